//! A path never leaves the folder of its skill.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hooks_agent_knowledge::Skills;
use proptest::prelude::*;

use crate::skills::{Folder, only, read_file};

const SECRET: &str = "the secret";

/// A folder of skills inside of a folder with a secret, and the skills.
fn around() -> (Folder, Skills) {
    let folder = Folder::new();
    folder.write("secret.txt", SECRET).write("skills/other/own.txt", SECRET);
    folder.write("skills/forms/SKILL.md", "---\nname: forms\ndescription: Fills.\n---\nDo it.");
    folder.write("skills/forms/references/list.md", "A list.");
    let skills = Skills::open([folder.join("skills")]).unwrap();
    (folder, skills)
}

#[test]
fn a_file_of_the_folder_is_read() {
    let (folder, skills) = around();
    assert_eq!(read_file(&skills, "forms", "references/list.md").output.as_str(), "A list.");
    symlink("references/list.md", folder.join("skills/forms/short.md")).unwrap();
    assert_eq!(read_file(&skills, "forms", "short.md").output.as_str(), "A list.");
}

#[test]
fn paths_that_mean_to_leave_are_refused() {
    let (folder, skills) = around();
    let absolute = folder.join("secret.txt").display().to_string();
    for path in [
        "../../secret.txt",
        "..",
        ".",
        "./SKILL.md",
        "references/../../../secret.txt",
        "references/..",
        "/etc/passwd",
        "//etc/passwd",
        "references//list.md",
        "references/",
        "..\\..\\secret.txt",
        "C:\\secret.txt",
        "C:secret.txt",
        "\\\\host\\share",
        "SKILL.md::$DATA",
        "SKILL.md\0",
        "\0",
        "a\nb",
        ".git/config",
        "references/.env",
        "SKILL.md.",
        "SKILL.md ",
        " ",
        "%2e%2e/secret.txt",
        "~/secret.txt",
        "\u{2025}/secret.txt",
        "\u{ff0e}\u{ff0e}/secret.txt",
        &absolute,
    ] {
        let result = read_file(&skills, "forms", path);
        assert!(result.is_error, "{path}: {}", result.output);
        assert!(!result.output.as_str().contains(SECRET));
    }
    let refused = read_file(&skills, "forms", "../../secret.txt");
    let text = "`../../secret.txt` is not a path in the folder of the skill, write one like";
    assert!(refused.output.as_str().starts_with(text), "{}", refused.output);
}

#[test]
fn a_link_to_outside_is_refused_whenever_it_was_made() {
    let (folder, skills) = around();
    let skill = folder.join("skills/forms");
    let text = |path: &str| {
        let result = read_file(&skills, "forms", path);
        assert!(result.is_error && !result.output.as_str().contains(SECRET), "{path}");
        result.output.as_str().to_owned()
    };
    symlink(folder.join("secret.txt"), skill.join("absolute.txt")).unwrap();
    symlink("../../secret.txt", skill.join("relative.txt")).unwrap();
    symlink("../other", skill.join("other")).unwrap();
    symlink(folder.path(), skill.join("up")).unwrap();
    symlink("relative.txt", skill.join("chain.txt")).unwrap();
    symlink("loop.txt", skill.join("loop.txt")).unwrap();
    for path in ["absolute.txt", "relative.txt", "other/own.txt", "up/secret.txt", "chain.txt"] {
        assert_eq!(text(path), format!("`{path}` leads out of the folder of the skill `forms`"));
    }
    assert!(text("loop.txt").starts_with("`loop.txt` cannot be read"));

    // A folder of the skill becomes a link after it was read.
    fs::remove_dir_all(skill.join("references")).unwrap();
    symlink(folder.path(), skill.join("references")).unwrap();
    assert!(text("references/secret.txt").contains("leads out of the folder"));
}

#[test]
fn a_skill_that_becomes_a_link_stays_as_it_was_and_reads_nothing_outside() {
    let (folder, skills) = around();
    let outside = "---\nname: forms\ndescription: Evil.\n---\nEvil.";
    folder.write("evil/forms/SKILL.md", outside).write("evil/forms/key.txt", SECRET);
    fs::remove_dir_all(folder.join("skills/forms")).unwrap();
    symlink(folder.join("evil/forms"), folder.join("skills/forms")).unwrap();
    assert_eq!(skills.skills()[0].description(), "Fills.");
    let expected = "forms/SKILL.md leads out of its folder: copy the skill into the folder";
    assert!(only(&skills.broken()).ends_with(expected));
    let result = read_file(&skills, "forms", "key.txt");
    assert!(result.is_error && !result.output.as_str().contains(SECRET));
    let error = Skills::open([folder.join("skills")]).unwrap_err();
    assert!(error.to_string().ends_with(expected));
}

#[test]
fn a_skill_file_that_is_a_link_to_outside_is_refused() {
    let (folder, skills) = around();
    folder.write("evil.md", "---\nname: forms\ndescription: Evil.\n---\nEvil.");
    fs::remove_file(folder.join("skills/forms/SKILL.md")).unwrap();
    symlink("../../evil.md", folder.join("skills/forms/SKILL.md")).unwrap();
    assert_eq!(skills.skills()[0].description(), "Fills.");
    assert!(only(&skills.broken()).contains("leads out of its folder"));
}

#[test]
fn links_that_change_while_files_are_read_never_show_the_outside() {
    let (folder, skills) = around();
    let skill = folder.join("skills/forms");
    folder.write("skills/forms/inside.txt", "inside");
    let (is_done, link) = (AtomicBool::new(false), skill.join("link.txt"));
    thread::scope(|scope| {
        scope.spawn(|| {
            let next = skill.join("next.txt");
            for target in ["inside.txt", "../../secret.txt"].into_iter().cycle() {
                symlink(target, &next).unwrap();
                fs::rename(&next, &link).unwrap();
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..300 {
            let result = read_file(&skills, "forms", "link.txt");
            assert!(!result.output.as_str().contains(SECRET));
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn pipes_folders_and_bytes_are_not_read() {
    let (folder, skills) = around();
    let skill = folder.join("skills/forms");
    let made = std::process::Command::new("mkfifo").arg(skill.join("pipe")).status().unwrap();
    assert!(made.success());
    folder.write("skills/forms/bytes.png", [0xff, 0xd8]).write("skills/forms/null.txt", "a\0b");
    folder.write("skills/forms/long.txt", "a".repeat(65_537));
    let text = |path: &str| read_file(&skills, "forms", path).output.as_str().to_owned();
    assert_eq!(text("pipe"), "`pipe` is not a file, name a file");
    assert_eq!(text("references"), "`references` is not a file, name a file");
    assert_eq!(text("none.md"), "the skill `forms` has no file `none.md`");
    assert_eq!(text("SKILL.md/a"), "the skill `forms` has no file `SKILL.md/a`");
    assert_eq!(text("bytes.png"), "`bytes.png` is not read, because it is no text in UTF-8");
    assert_eq!(text("null.txt"), "`null.txt` is not read, because it is no text in UTF-8");
    let expected = "`long.txt` is not read, because it is longer than the limit of 65536 bytes";
    assert_eq!(text("long.txt"), expected);
}

#[test]
fn names_of_skills_are_no_paths() {
    let (_folder, skills) = around();
    for name in
        ["../skills/forms", "forms/../forms", "forms/", "FORMS", "other", "", ".", "forms\0"]
    {
        let result = read_file(&skills, name, "SKILL.md");
        let expected = format!("no skill named `{name}`, there are: forms");
        assert_eq!(result.output.as_str(), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Paths of the parts that attacks are made of read no secret.
    #[test]
    fn no_path_reads_the_secret(parts in prop::collection::vec(
        prop_oneof![
            Just(".."), Just("."), Just("/"), Just("\\"), Just("secret.txt"), Just("references"),
            Just("skills"), Just("forms"), Just("up"), Just("\0"), Just(""),
        ],
        1..8,
    ), separator in prop_oneof![Just("/"), Just("\\"), Just("")]) {
        let (folder, skills) = around();
        symlink(folder.path(), folder.join("skills/forms/up")).unwrap();
        let result = read_file(&skills, "forms", &parts.join(separator));
        prop_assert!(!result.output.as_str().contains(SECRET));
    }
}
