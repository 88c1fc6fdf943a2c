//! Who may change what a guard is: its script, its program, its policy and the settings that run it.

use std::path::{Path, PathBuf};

use crate::doctor::hole::Findings;
use crate::doctor::installed::{HookFiles, Installed};

/// Finds files and folders in which another user of this machine can put a guard that lets everything pass.
pub(super) fn examine(installed: &Installed, findings: &mut Findings) {
    let mut files = vec![installed.script.path.clone()];
    match &installed.hooks {
        HookFiles::Settings(_, path) => files.push(path.clone()),
        HookFiles::Own(own) => files.extend(own.files.iter().map(|(path, _)| path.clone())),
    }
    files.extend(installed.guard.iter().flatten().take(1).map(PathBuf::from));
    let options = ["--managed", "--policy", "--user", "--local", "--session", "--trust", "--state"];
    let options = options.into_iter().flat_map(|option| installed.options(option));
    files.extend(options.map(Path::to_owned));
    for file in files {
        // One that is not there is another hole.
        let Ok(file) = file.canonicalize() else { continue };
        for path in file.ancestors() {
            let (shown, file) = (path.display(), file.display());
            match writer(path) {
                Some(Writer::Others) => {
                    findings.hole(
                        format!("other users can write {shown}, and so change {file}"),
                        format!("run: chmod o-w,g-w {shown}"),
                    );
                    break;
                }
                Some(Writer::User(user)) => {
                    findings
                        .note(format!("the user {user} owns {shown}, and so can change {file}"));
                    break;
                }
                None => {}
            }
        }
    }
}

/// Who else can write a file, or in a folder.
#[cfg_attr(not(unix), expect(dead_code, reason = "rights of other systems are not read"))]
enum Writer {
    Others,
    User(u32),
}

#[cfg(unix)]
fn writer(path: &Path) -> Option<Writer> {
    use std::os::unix::fs::MetadataExt;

    let file = path.symlink_metadata().ok()?;
    let mode = file.mode();
    // Its files are of those who made them.
    let is_sticky = file.is_dir() && mode & 0o1000 != 0;
    // A user's own group has the number of the user.
    let is_of_group = mode & 0o020 != 0 && file.gid() != file.uid();
    if (mode & 0o002 != 0 || is_of_group) && !is_sticky {
        return Some(Writer::Others);
    }
    let is_known = [0, rustix::process::geteuid().as_raw()].contains(&file.uid());
    (!is_known).then(|| Writer::User(file.uid()))
}

#[cfg(not(unix))]
fn writer(_: &Path) -> Option<Writer> {
    None
}
