//! The format of `SKILL.md`: what is read, and what is refused with file and line.

use hooks_agent_knowledge::{SkillError, Skills};
use proptest::prelude::*;

use crate::skills::{Folder, only};

/// Opens a skill `forms` with this `SKILL.md`, and returns the error without the path of the folder.
fn error(text: &str) -> String {
    let folder = Folder::new();
    let error = folder.write("forms/SKILL.md", text).error();
    error.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn a_skill_has_what_its_front_matter_says() {
    let folder = Folder::new();
    let text = "---\nname: forms\ndescription: >\n  Fills\n  forms.\nlicense: Apache-2.0\n\
        compatibility: Needs git\nmetadata:\n  author: ada\n  version: \"1.0\"\n\
        allowed-tools: Bash(git:*) Read\n---\n\n# Forms\nDo it.\n";
    let skills = folder.write("forms/SKILL.md", text).open().skills();
    let skill = &skills[0];
    assert_eq!((skill.name(), skill.description()), ("forms", "Fills forms."));
    assert_eq!(skill.body(), "# Forms\nDo it.");
    assert_eq!(skill.license(), Some("Apache-2.0"));
    assert_eq!(skill.compatibility(), Some("Needs git"));
    assert_eq!(skill.metadata()["author"], "ada");
    assert_eq!(skill.metadata()["version"], "1.0");
    assert_eq!(skill.allowed_tools(), ["Bash(git:*)", "Read"]);
    assert_eq!(skill.file(), folder.join("forms/SKILL.md"));
}

#[test]
fn tools_may_be_a_list_and_numbers_of_metadata_are_text() {
    let folder = Folder::new();
    let text = "---\nname: forms\ndescription: Fills.\nmetadata:\n  version: 1.0\n\
        allowed-tools:\n  - Bash(git:*)\n  - Read\n---\n";
    let skills = folder.write("forms/SKILL.md", text).open().skills();
    assert_eq!(skills[0].allowed_tools(), ["Bash(git:*)", "Read"]);
    assert_eq!(skills[0].metadata()["version"], "1.0");
    assert_eq!(skills[0].body(), "");
}

#[test]
fn lines_may_end_as_on_windows_and_begin_with_a_mark_of_the_encoding() {
    let folder = Folder::new();
    let text = "\u{feff}---\r\nname: forms\r\ndescription: Fills.\r\n---\r\nDo it.\r\n";
    let skills = folder.write("forms/SKILL.md", text).open().skills();
    assert_eq!((skills[0].description(), skills[0].body()), ("Fills.", "Do it."));
}

#[test]
fn the_limits_are_counted_in_characters() {
    let folder = Folder::new();
    let (name, most) = ("a".repeat(64), "ü".repeat(1024));
    let compatibility = "ü".repeat(500);
    let text =
        format!("---\nname: {name}\ndescription: {most}\ncompatibility: {compatibility}\n---\n");
    assert_eq!(folder.write(&format!("{name}/SKILL.md"), text).open().skills().len(), 1);

    let found = error(&format!("---\nname: forms\ndescription: {most}ü\n---\n"));
    let expected = "expected 1 to 1024 characters that say what the skill does and when to use it";
    assert_eq!(found, format!("forms/SKILL.md:3: a `description` of 1025 characters, {expected}"));
    let found = error(&format!(
        "---\nname: forms\ndescription: Fills.\ncompatibility: {compatibility}ü\n---\n"
    ));
    let expected = "expected 1 to 500 characters";
    assert_eq!(found, format!("forms/SKILL.md:4: a `compatibility` of 501 characters, {expected}"));
}

#[test]
fn a_name_that_is_none_is_refused_with_its_line() {
    let long = "a".repeat(65);
    for name in
        ["Forms", "-forms", "forms-", "for--ms", "for ms", "for_ms", "förms", "../forms", &long]
    {
        let found = error(&format!("---\ndescription: Fills.\nname: \"{name}\"\n---\n"));
        let start = format!("forms/SKILL.md:3: the name `{name}`, expected 1 to 64 of `a` to `z`");
        assert!(found.starts_with(&start), "{found}");
    }
    let found = error("---\nname: forms2\ndescription: Fills.\n---\n");
    let expected = "expected the name of the folder, `forms`";
    assert_eq!(found, format!("forms/SKILL.md:2: the name `forms2`, {expected}"));
}

#[test]
fn what_is_missing_is_named() {
    let found = error("---\ndescription: Fills.\n---\n");
    assert!(found.starts_with("forms/SKILL.md:1: no `name`, expected 1 to 64"), "{found}");
    let found = error("---\nname: forms\n---\n");
    assert!(found.starts_with("forms/SKILL.md:1: no `description`, expected 1 to 1024"), "{found}");
    let found = error("---\nname: forms\ndescription: \"  \"\n---\n");
    assert!(found.starts_with("forms/SKILL.md:3: a `description` of 2 characters"), "{found}");
    let found = error("# Forms\n");
    let expected = "expected `---`, the line before the front matter";
    assert_eq!(found, format!("forms/SKILL.md:1: `# Forms`, {expected}"));
    let found = error("---\nname: forms\ndescription: Fills.\n");
    let expected = "expected `---`, the line after the front matter";
    assert_eq!(found, format!("forms/SKILL.md:3: the end of the file, {expected}"));
    assert!(error("").starts_with("forms/SKILL.md:1: ``, expected `---`"));
    assert!(error("---\n---\n").starts_with("forms/SKILL.md:"));
}

#[test]
fn broken_yaml_is_refused_with_its_line() {
    let expected =
        "expected YAML lines `key: value`, with quotes around a value that has `: ` in it";
    for (line, text) in [
        (3, "---\nname: forms\ndescription: Use when: always\n---\n"),
        (3, "---\nname: forms\nname: forms\ndescription: Fills.\n---\n"),
        (3, "---\nname: forms\ndescription: [a\n---\n"),
        (4, "---\nname: forms\ndescription:\n  a: b\n---\n"),
        (4, "---\nname: forms\ndescription: Fills.\nmetadata: text\n---\n"),
        (5, "---\nname: forms\ndescription: Fills.\nmetadata:\n  a: [b]\n---\n"),
        (2, "---\n- name\n---\n"),
        (2, "---\nname\n---\n"),
    ] {
        let found = error(text);
        let has_line = found.starts_with(&format!("forms/SKILL.md:{line}: "));
        assert!(has_line && found.contains(expected), "{text}: {found}");
        assert_eq!(found.lines().count(), 1, "{found}");
    }
    let found = error("---\nname: forms\ndescription: Fills.\nallowed-tools: { a: b }\n---\n");
    assert!(found.contains("SKILL.md:4: ") && found.contains("list of texts"), "{found}");
}

#[test]
fn other_keys_are_refused_unless_they_are_allowed() {
    let text = "---\nname: forms\ndescription: Fills.\ncolour: red\n---\n";
    let expected = "one of name, description, license, compatibility, metadata, allowed-tools";
    assert_eq!(error(text), format!("forms/SKILL.md:4: the key `colour`, expected {expected}"));
    let folder = Folder::new();
    folder.write("forms/SKILL.md", text);
    let skills = Skills::builder([folder.path()]).allow_other_keys(true).open().unwrap();
    assert_eq!(skills.skills().len(), 1);
}

#[test]
fn what_is_no_text_and_what_is_too_long_is_refused() {
    let folder = Folder::new();
    let error = folder.write("forms/SKILL.md", b"---\nname: \xff\n---\n").error();
    assert!(error.ends_with("forms/SKILL.md:1: bytes that are no text, expected UTF-8"), "{error}");
    folder.skill("forms", "Fills.", &"a".repeat(65_536));
    assert!(folder.error().ends_with("is too long, expected at most 65536 bytes"));
    let longer = Skills::builder([folder.path()]).max_bytes(70_000).open().unwrap();
    assert_eq!(longer.skills()[0].body().len(), 65_536);
}

#[test]
fn a_file_whose_name_has_other_letters_is_an_error() {
    let folder = Folder::new();
    let error = folder.write("forms/skill.md", "---\n").error();
    assert!(
        error.ends_with(":1: a file named `skill.md`, expected the name `SKILL.md`"),
        "{error}"
    );
}

#[test]
fn what_is_no_skill_is_left_alone() {
    let folder = Folder::new();
    folder.write("README.md", "Skills").write("notes/a.md", "a").write(".git/SKILL.md", "");
    assert_eq!(folder.open().skills().len(), 0);
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    let folder = Folder::new();
    let open = |path: &str| only(Skills::open([folder.join(path)]).unwrap_err().errors());
    let expected = "cannot be read: a folder that this program may read";
    assert!(open("none").ends_with(expected));
    folder.write("file", "");
    assert!(open("file").ends_with(expected));
    folder.skill("forms", "Fills.", "");
    assert!(open("forms").ends_with("cannot be read: the folder around it: this one is a skill"));
}

#[test]
fn two_skills_of_one_name_are_an_error_that_names_both() {
    let (one, two) = (Folder::new(), Folder::new());
    one.skill("forms", "One.", "");
    two.skill("forms", "Two.", "").skill("tides", "Three.", "");
    let files = [one.join("forms/SKILL.md"), two.join("forms/SKILL.md")];
    let [first, second] = files.each_ref().map(|file| file.display().to_string());
    let text = format!("two skills are named `forms`: {first} and {second}");
    let error = Skills::open([one.path(), two.path()]).unwrap_err();
    assert_eq!(error.to_string(), text);
    assert!(matches!(*error.errors()[0], SkillError::Duplicate { .. }));

    let left_out = Skills::builder([one.path(), two.path()]).leave_out_broken(true);
    let skills = left_out.open().unwrap();
    let described: Vec<_> =
        skills.skills().iter().map(|skill| skill.description().to_owned()).collect();
    assert_eq!(described, ["One.", "Three."]);
    assert_eq!(only(&skills.broken()), text);
    assert_eq!(Skills::open([one.path(), one.path()]).unwrap().skills().len(), 1);
}

#[test]
fn broken_skills_are_all_told_or_left_out_and_listed() {
    let folder = Folder::new();
    folder.skill("forms", "Fills.", "").write("tides/SKILL.md", "").write("moon/SKILL.md", "");
    let error = Skills::open([folder.path()]).unwrap_err();
    assert_eq!(error.errors().len(), 2);
    assert!(error.to_string().contains("moon/SKILL.md:1") && error.to_string().contains("; "));
    let skills = Skills::builder([folder.path()]).leave_out_broken(true).open().unwrap();
    assert_eq!((skills.skills().len(), skills.broken().len()), (1, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// No text makes the reader panic, and every error has the file and one line.
    #[test]
    fn any_text_is_a_skill_or_an_error(yaml in "[-a-z:\\[\\]{}'\"#&*!|> \\n\\t0-9]{0,60}", body in ".{0,20}") {
        let folder = Folder::new();
        folder.write("a/SKILL.md", format!("---\nname: a\ndescription: b\n{yaml}\n---\n{body}"));
        if let Err(error) = Skills::open([folder.path()]) {
            let text = error.to_string();
            prop_assert!(text.contains("a/SKILL.md:") && text.lines().count() == 1, "{}", text);
        }
    }

    /// The names of the format, by another way than the reader's.
    #[test]
    fn names_are_those_of_the_format(name in "[a-c0-1-]{1,6}") {
        let folder = Folder::new();
        let is_valid = name.split('-').all(|part| !part.is_empty());
        let text = format!("---\nname: \"{name}\"\ndescription: b\n---\n");
        folder.write(&format!("{name}/SKILL.md"), text);
        prop_assert_eq!(Skills::open([folder.path()]).is_ok(), is_valid);
    }
}

#[test]
fn front_matter_that_is_nested_deeply_is_refused() {
    for value in
        ["[".repeat(15_000), "{a: ".repeat(4_000), "- ".repeat(8_000), "&a [".repeat(4_000)]
    {
        for key in ["metadata", "description", "other"] {
            let text = format!("---\nname: forms\ndescription: D.\n{key}: {value}\n---\n");
            assert!(error(&text).contains("forms/SKILL.md"));
        }
    }
}
