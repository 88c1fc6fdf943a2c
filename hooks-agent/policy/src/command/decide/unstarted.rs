//! Programs that end with exit code 2 because they could not start what they were to run.

/// What they write then, first on standard error.
const SAYS: [(&str, &[&str]); 6] = [
    ("bash", &[": syntax error"]),
    ("perl", &["Can't open perl script "]),
    ("python", &[": can't open file '"]),
    ("python3", &[": can't open file '"]),
    ("sh", &[": Syntax error: ", ": cannot open ", ": syntax error"]),
    (
        "uv",
        &[
            "error: Could not ",
            "error: Failed to ",
            "error: No interpreter found",
            "error: Querying Python",
            "error: Request failed",
            "error: invalid peer certificate",
            "\u{d7} ",
        ],
    ),
];

/// Returns the launcher that says that it did not start what it was to run.
pub(super) fn unstarted<'a>(launchers: &[&'a str], stderr: &str) -> Option<&'a str> {
    let first = stderr.lines().map(str::trim).find(|line| !line.is_empty())?;
    let says_so = |launcher: &&str| {
        let of = SAYS.iter().filter(|(name, _)| name == launcher);
        of.flat_map(|(_, says)| says.iter()).any(|says| match says {
            says if says.starts_with(':') => first.contains(says),
            says => first.starts_with(says),
        })
    };
    launchers.iter().copied().find(|launcher| says_so(launcher))
}
