//! Questions about documents that nothing here was tuned on, and questions that they do not answer.
//!
//! The documents are of others, as cargo has them in the versions of the lock file: the design and the
//! platforms of `jiff`, the design of `aho-corasick`, the README of `memchr`. The questions were written
//! from the documents, in other words where there are others, before a search of them ran.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::questions::Question;

/// The names that the questions have for the documents, with their package and file.
const DOCUMENTS: [(&str, &str, &str); 4] = [
    ("jiff-design.md", "jiff", "DESIGN.md"),
    ("jiff-platform.md", "jiff", "PLATFORM.md"),
    ("aho-corasick.md", "aho-corasick", "DESIGN.md"),
    ("memchr.md", "memchr", "README.md"),
];

/// Copies the documents into a folder.
pub(crate) fn copy_documents(folder: &Path) {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = ["metadata", "--format-version", "1", "--locked", "--offline"];
    let metadata = cargo(&[&metadata[..], &["--filter-platform", host]].concat());
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    for (name, package, file) in DOCUMENTS {
        let packages = metadata["packages"].as_array().unwrap();
        let found = packages.iter().find(|it| it["name"] == package).expect("it is locked");
        let manifest = PathBuf::from(found["manifest_path"].as_str().unwrap());
        std::fs::copy(manifest.with_file_name(file), folder.join(name)).unwrap();
    }
}

fn cargo(args: &[&str]) -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    let ran = Command::new(env!("CARGO")).args(args).current_dir(folder).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

pub(crate) const HELD_OUT: [Question; 55] = [
    ("How is the name of the library pronounced?", "jiff-design.md", "soft \"g,\""),
    ("Where does the word for the library come from?", "jiff-design.md", "back in a jiff"),
    (
        "Which other datetime crates for Rust exist?",
        "jiff-design.md",
        "four existing prominent datetime libraries",
    ),
    (
        "What is wrong with returning an Option from functions that can fail?",
        "jiff-design.md",
        "fallible routines return a mixture",
    ),
    (
        "Why should the zone data not be compiled into the program?",
        "jiff-design.md",
        "re-compile your application",
    ),
    (
        "Does chrono keep the name of the zone when it serializes?",
        "jiff-design.md",
        "losslessly serialize and deserialize it",
    ),
    ("How do I get the next day of a datetime?", "jiff-design.md", "Zoned::tomorrow"),
    (
        "What is hifitime meant for?",
        "jiff-design.md",
        "specialized datetime library suited to scientific",
    ),
    ("Why did the author not improve an existing crate?", "jiff-design.md", "inertial cost"),
    ("What are the kinds of duration?", "jiff-design.md", "two duration types provided by Jiff"),
    ("Which type is lighter, a span or a signed duration?", "jiff-design.md", "heavier type"),
    ("Can I define my own time zones?", "jiff-design.md", "cannot be extended by users"),
    (
        "What is the cost of making a type generic over zones?",
        "jiff-design.md",
        "infects everything",
    ),
    (
        "Why can a zone not be copied like an integer?",
        "jiff-design.md",
        "dynamic memory allocation",
    ),
    ("Are leap seconds taken into account?", "jiff-design.md", "use cases for leap second support"),
    ("Is there a workaround to count leap seconds?", "jiff-design.md", "custom TZif data"),
    (
        "How is the difference of two datetimes rounded?",
        "jiff-design.md",
        "will automatically use `RoundMode::Trunc`",
    ),
    (
        "What is the difference between a monotonic clock and the system clock?",
        "jiff-design.md",
        "_monotonic_",
    ),
    ("In which direction does a span round by default?", "jiff-design.md", "HalfExpand"),
    ("What does civil time mean?", "jiff-platform.md", "human coordinated agreement"),
    (
        "Which variable says where the zone files are?",
        "jiff-platform.md",
        "`TZDIR` environment variable tells",
    ),
    (
        "How can I override the zone of my computer for one program?",
        "jiff-platform.md",
        "overrides and sets the default system time zone",
    ),
    ("What may be written in TZ?", "jiff-platform.md", "accepts these kinds of values"),
    (
        "What happens in a Docker container that has no zone files?",
        "jiff-platform.md",
        "stripped down Docker containers",
    ),
    (
        "How is my local zone detected on Linux?",
        "jiff-platform.md",
        "The symbolic link usually points",
    ),
    (
        "What if localtime is a copy and not a link?",
        "jiff-platform.md",
        "is not a symbolic link, then",
    ),
    ("Where does Android keep its zone data?", "jiff-platform.md", "own special time"),
    ("Which property has the zone on a phone?", "jiff-platform.md", "persist.sys.timezone"),
    ("How do Windows names map to IANA names?", "jiff-platform.md", "CLDR XML data] that maps"),
    ("How do I use it in a browser?", "jiff-platform.md", "js-sys"),
    (
        "Should a library turn on the feature for JavaScript?",
        "jiff-platform.md",
        "generally never enable",
    ),
    (
        "Does asking for the current time panic on wasm?",
        "jiff-platform.md",
        "panics in Jiff's default configuration",
    ),
    (
        "How do I leave out the bundled database on Windows?",
        "jiff-platform.md",
        "opt out of bundling",
    ),
    ("What is used if no zone can be discovered?", "jiff-platform.md", "TimeZone::unknown()"),
    (
        "What kinds of automata does the crate have?",
        "aho-corasick.md",
        "noncontiguous NFA. States have",
    ),
    ("What is a failure transition?", "aho-corasick.md", "More formally, a failure transition"),
    ("Why is a DFA faster to search with?", "aho-corasick.md", "pre-following all failure"),
    (
        "What does it cost to build the deterministic form?",
        "aho-corasick.md",
        "costly than building the NFA",
    ),
    (
        "Which automaton is chosen by default?",
        "aho-corasick.md",
        "By default, a contiguous NFA is used",
    ),
    (
        "How can the alphabet be made smaller?",
        "aho-corasick.md",
        "placeholder for every other unused byte",
    ),
    (
        "Can all matches be found if they overlap?",
        "aho-corasick.md",
        "Overlapping searches work just like",
    ),
    (
        "Why is it an error to combine leftmost with overlapping?",
        "aho-corasick.md",
        "attempting to do an overlapping search will return an error",
    ),
    (
        "Can I search data that arrives in pieces?",
        "aho-corasick.md",
        "partial parts of the haystack",
    ),
    ("How are rare letters used to be faster?", "aho-corasick.md", "typically a rare byte"),
    ("On which processors does Teddy work?", "aho-corasick.md", "SSSE3 or AVX2"),
    ("What is used when the text is very short?", "aho-corasick.md", "Rabin-Karp is used instead"),
    ("Who should read about the internals?", "aho-corasick.md", "target audience of this document"),
    ("What is the naive way to find many patterns?", "aho-corasick.md", "naive way to solve"),
    ("How do I use it without std?", "memchr.md", "default-features = false"),
    ("What is the oldest compiler that works?", "memchr.md", "1.61.0"),
    ("How is the crate tested?", "memchr.md", "extensive testing strategy"),
    ("Which algorithm is used for small needles?", "memchr.md", "Generic SIMD"),
    ("Why is the search of the standard library slower?", "memchr.md", "has trouble using SIMD"),
    ("Can bytes that are not UTF-8 be searched?", "memchr.md", "without regard to encoding"),
    ("Which license does memchr have?", "memchr.md", "UNLICENSE"),
];

pub(crate) const NOT_HELD: [&str; 20] = [
    "What is the boiling point of mercury?",
    "Who painted the Mona Lisa?",
    "How do I renew my passport?",
    "What is a good recipe for pancakes?",
    "How many moons does Jupiter have?",
    "When did the Berlin Wall fall?",
    "Translate good morning into Spanish.",
    "Which vaccine do I need for Kenya?",
    "How do I tie a bow tie?",
    "What is the salary of a nurse?",
    "How do I open a TCP connection?",
    "How do I sort a list of structs?",
    "Which web framework should I use?",
    "How do I compress a file with gzip?",
    "What does the borrow checker do?",
    "How do I connect to a MySQL database?",
    "How do I draw a chart?",
    "How do I send an email?",
    "What is the syntax of a regular expression?",
    "How do I parse JSON?",
];
