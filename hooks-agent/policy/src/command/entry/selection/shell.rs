//! The commands of a line of shell, as far as they can be told without running it.

/// Programs and words of the shell that run the command behind them. A list: of what is not in it, the words
/// are its own.
const RUNNERS: &str = "\
    ! ash bash builtin busybox chroot chrt command coproc dash do doas docker elif else env \
    eval exec fd find fish flock if ionice ksh kubectl ltrace nice nohup nsenter parallel \
    pkexec podman proot runuser script setsid sh ssh stdbuf strace su sudo systemd-run \
    taskset then time timeout toybox trap unshare until watch while xargs";

/// The most bytes of a command behind one of [`RUNNERS`] that are looked at.
const LONGEST: usize = 4096;

/// Returns whether a command of the line is of a form, or cannot be told: its name comes from a variable, or
/// it stands far behind a program that runs it. Quotes and backslashes are no part of a name.
pub(super) fn may_run(line: &str, is_of: &impl Fn(&str) -> bool) -> bool {
    // What backticks run is told apart like what `$(` runs.
    let line = line.replace("\\\n", "").replace('`', "$(");
    let may_be = |command: &str| is_run(&plain(command), is_of);
    let Some(quoted) = with_quotes(&line) else {
        // A quote is open: it is no line, or one with a document or a remark in it.
        return !line.contains("<<") && !line.contains('#') || commands_of(&line).any(may_be);
    };
    commands_of(&line).chain(quoted.into_iter().map(without_variables)).any(may_be)
}

/// Returns the commands of a line, without the variables that they set.
pub(super) fn commands_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(SEPARATORS).map(without_variables)
}

/// What ends a command.
const SEPARATORS: [char; 9] = ['&', '|', ';', '\n', '(', ')', '`', '{', '}'];

/// Returns the commands of a line whose separators in quotes are none; `None` if a quote is open.
fn with_quotes(line: &str) -> Option<Vec<&str>> {
    let (mut commands, mut start) = (Vec::new(), 0);
    let mut quotes = Quotes::default();
    for (at, it) in line.char_indices() {
        if quotes.is_plain(it) && SEPARATORS.contains(&it) {
            commands.push(&line[start..at]);
            start = at + it.len_utf8();
        }
    }
    commands.push(&line[start..]);
    quotes.open.is_none().then_some(commands)
}

/// Which quotes a character of a line is in.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    is_escaped: bool,
}

impl Quotes {
    /// Takes the next character. Returns whether it means what it means without quotes.
    fn is_plain(&mut self, it: char) -> bool {
        if std::mem::take(&mut self.is_escaped) {
            return false;
        }
        match (self.open, it) {
            (Some('\''), '\'') | (Some('"'), '"') => self.open = None,
            (None | Some('"'), '\\') => self.is_escaped = true,
            (None, '\'' | '"') => self.open = Some(it),
            (None, _) => return true,
            (Some(_), _) => {}
        }
        false
    }
}

/// Returns what stands behind the variables that a command sets.
fn without_variables(command: &str) -> &str {
    let mut command = command.trim();
    while sets_variable(command.split(char::is_whitespace).next().unwrap_or_default()) {
        let mut quotes = Quotes::default();
        let end = command.find(|it: char| quotes.is_plain(it) && it.is_whitespace());
        let Some(end) = end else { break };
        command = command[end..].trim_start();
    }
    command
}

/// Returns the command without quotes and backslashes, with one blank between two words.
fn plain(command: &str) -> String {
    let command = command.replace(['"', '\'', '\\'], "");
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_run(command: &str, is_of: &impl Fn(&str) -> bool) -> bool {
    let mut rest = command;
    // Whether the word may be the name of the command that runs, and whether it may belong to an option.
    let (mut is_name, mut is_value) = (true, false);
    while !rest.is_empty() {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_set = sets_variable(word);
        if is_name && !is_set && word.contains('$') {
            return true;
        }
        // The name of a program, wherever it is.
        let mut folders = word.match_indices('/').map(|(at, _)| &rest[at + 1..]);
        if is_of(rest) || folders.any(is_of) {
            return true;
        }
        let program = word.rsplit('/').next().unwrap_or_default();
        // The target of `>` stands before the command, or behind it.
        let runs = RUNNERS.split(' ').any(|it| it == program) || word.contains(['<', '>']);
        if rest.len() == command.len() {
            if !runs {
                return false;
            }
            if command.len() > LONGEST {
                return true;
            }
        }
        let is_option = word.starts_with('-');
        is_name &= runs
            || is_set
            || is_option
            || is_value
            || word.starts_with(|it: char| it.is_ascii_digit());
        is_value = is_option;
        rest = after;
    }
    false
}

/// Returns whether the word is `NAME=value`.
fn sets_variable(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    name.is_some_and(is_name)
}
