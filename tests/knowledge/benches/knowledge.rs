//! The speed and the memory of indexing and searching documents:
//! `cargo bench -p hooks-agent-knowledge-tests --bench knowledge`.
//!
//! `HOOKS_KNOWLEDGE_MB` sets the size of the folder, 100 by default.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hooks_agent_knowledge::{EmbedFuture, Embedder, Knowledge, TextIndex, VectorIndex};

/// How many passages are searched.
const PASSAGES: usize = 100_000;

/// The length of the vectors, that of many small models.
const DIMENSION: usize = 384;

/// How often a search is measured.
const SEARCHES: u32 = 50;

/// Random numbers that are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }

    /// A word; few of them are in most texts, as in a language.
    fn word(&mut self) -> String {
        let most = 1 << (4 + self.next(14));
        let mut number = self.next(most);
        let mut word = String::new();
        loop {
            word.push_str(["ba", "ke", "di", "no", "ru", "sta", "lem", "pi"][number % 8]);
            number /= 8;
            if number == 0 {
                return word;
            }
        }
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// Hashes words into the numbers of a vector.
struct Hashed;

impl Embedder for Hashed {
    fn name(&self) -> &'static str {
        "hashed"
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> EmbedFuture<'a> {
        let vector = |text: &String| {
            let mut vector = vec![0.0; DIMENSION];
            for word in text.split_whitespace() {
                let hash = word.bytes().fold(7_usize, |hash, byte| {
                    hash.wrapping_mul(31).wrapping_add(usize::from(byte))
                });
                vector[hash % DIMENSION] += 1.0;
            }
            vector
        };
        let vectors = texts.iter().map(vector).collect();
        Box::pin(async move { Ok(vectors) })
    }
}

/// Writes documents of about 100 KB until there are so many bytes.
fn write_documents(folder: &Path, bytes: usize) -> usize {
    let (mut random, mut written) = (Random(1), 0);
    for number in 0.. {
        let mut text = String::new();
        for section in 0..100 {
            let _ = write!(text, "## Section {section}\n\n{}\n\n", random.text(150));
        }
        written += text.len();
        fs::create_dir_all(folder.join((number / 100).to_string())).unwrap();
        fs::write(folder.join(format!("{}/{number}.md", number / 100)), text).unwrap();
        if written >= bytes {
            break;
        }
    }
    written
}

/// The most memory that the process had, and has now, in MB. 0 where the system does not say.
fn memory() -> [u64; 2] {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ["VmHWM:", "VmRSS:"].map(|name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        number.unwrap_or(0) / 1024
    })
}

async fn measure(name: &str, knowledge: &impl Knowledge) {
    let mut random = Random(2);
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..SEARCHES {
        let query = random.text(8);
        let start = Instant::now();
        knowledge.search(&query, 5).await.unwrap();
        times.push(start.elapsed());
    }
    times.sort();
    let (half, most) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{name:10} {half:>10.2?} half of the searches, {most:>10.2?} all");
}

#[allow(clippy::cast_precision_loss)]
async fn index_folder(folder: &Path, megabytes: usize) {
    let bytes = write_documents(&folder.join("documents"), megabytes << 20);
    let before = memory();
    let start = Instant::now();
    let index = TextIndex::open(folder.join("documents"), folder.join("index")).await.unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let (speed, [most, now]) = (bytes as f64 / 1e6 / seconds, memory());
    let passages = index.passages().await.unwrap();
    println!("{} MB in {passages} passages: {seconds:.1} s, {speed:.1} MB/s", bytes / 1_000_000);
    println!("memory: {} MB before, {most} MB at most, {now} MB after", before[1]);
    let start = Instant::now();
    index.refresh().await.unwrap();
    println!("nothing changed: {:.2?}", start.elapsed());
    measure("full text", &index).await;
}

async fn search_passages(folder: &Path) {
    let mut random = Random(3);
    let documents = folder.join("passages");
    fs::create_dir_all(&documents).unwrap();
    for file in 0..100 {
        let mut text = String::new();
        for section in 0..PASSAGES / 100 {
            let _ = write!(text, "## Section {section}\n\n{}\n\n", random.text(40));
        }
        fs::write(documents.join(format!("{file}.md")), text).unwrap();
    }
    let text = TextIndex::open(&documents, folder.join("of-passages")).await.unwrap();
    let vectors = VectorIndex::new(text.clone(), Hashed);
    let start = Instant::now();
    let embedded = vectors.refresh().await.unwrap().embedded;
    println!(
        "\n{embedded} vectors of {DIMENSION} numbers made and written: {:.2?}",
        start.elapsed()
    );
    measure("full text", &text).await;
    measure("vectors", &vectors).await;
    measure("hybrid", &vectors.with_text()).await;
}

fn main() {
    let megabytes = std::env::var("HOOKS_KNOWLEDGE_MB").ok();
    let megabytes = megabytes.map_or(100, |it| it.parse().expect("a number of megabytes"));
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        index_folder(folder.path(), megabytes).await;
        search_passages(folder.path()).await;
    });
}
