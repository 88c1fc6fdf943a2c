//! Runs that a store keeps beyond the memory of the program.
//!
//! The page asks a history that answers in its place: what the program answers is promised elsewhere.

use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;
use serde_json::json;

use crate::support::{Page, open, says};

/// Answers what a program with a history would, with five runs of the last days, two on a page.
const HISTORY: &str = "
    const DAY = 86_400_000;
    const past = [1, 2, 3, 4, 5].map((at) => ({
        run: `00000000-0000-4000-8000-00000000000${at}`, agent: at === 4 ? 'clerk' : 'greeter',
        thread: `thread-${at}`, user: at < 3 ? 'ada' : 'bob', state: at === 2 ? 'failed' : 'finished',
        title: `Old question ${at}`, started: Date.now() - at * DAY, ended: Date.now() - at * DAY + 900,
        after: at, rounds: 1, retries: 0, tools: 0, tool_errors: 0, events: 3, dropped: 0,
    }));
    const entry = (run, seq, type, data) =>
        ({ seq, ts: run.started + seq, run: run.run, agent: run.agent, type, data });
    const say = (text) => ({ role: 'assistant', content: [{ type: 'text', text }] });
    const whole = (run) => ({ from: 'history', seq: 9, runs: [run], entries: [
        entry(run, 1, 'request', { model: 'script' }), entry(run, 2, 'reasoned', say('An old answer.')),
        entry(run, 3, 'settled', { outcome: 'finished' })] });
    const page = (query) => {
        const of = past.filter((it) => ['agent', 'user', 'thread', 'state']
            .every((key) => !query.has(key) || query.get(key) === it[key])
            && it.title.toLowerCase().includes(query.get('q') ?? ''));
        const from = Number(query.get('before') ?? 0);
        return { runs: of.slice(from, from + 2), next: from + 2 < of.length ? String(from + 2) : null };
    };
    const days = () => [3, 2, 1].map((at) =>
        ({ at: Math.floor(Date.now() / DAY) * DAY - at * DAY, runs: at, failed: at % 2, tokens: at * 1000 }));
    window.asked = [];
    const real = window.fetch;
    window.fetch = async (path, options) => {
        const { pathname, search, searchParams } = new URL(path, location.href);
        const answer = (body) => new Response(JSON.stringify(body));
        const changed = async (more) => answer({ ...await (await real(path, options)).json(), ...more });
        const old = past.find((it) => pathname === `/api/runs/${it.run}`);
        if (old) return answer(whole(old));
        if (pathname === '/api/agents') return changed({ history: true });
        if (pathname === '/api/overview') return changed({ source: 'store', days: days() });
        if (pathname !== '/api/history') return real(path, options);
        window.asked.push(search);
        return answer(page(searchParams));
    };
";

const OLDER: &str = "document.querySelectorAll('.older a.run').length";

/// Opens a studio whose program has one run, with a history of five more.
async fn with_history(lead: impl AsyncFnOnce(&Page)) {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    agent.unwrap().call("A new question").await.unwrap();
    open(studio, async |page| {
        page.before_the_page(HISTORY).await;
        page.client.refresh().await.unwrap();
        page.until_text(".runs .run", "A new question").await;
        lead(page).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn older_runs_come_page_by_page_below_those_of_the_program() {
    with_history(async |page| {
        assert_eq!(page.eval(OLDER).await, json!(0));
        for (label, size) in [("Older runs", 2), ("More older runs", 4), ("More older runs", 5)] {
            page.click(".older button", label).await;
            page.until(&format!("{OLDER} === {size}")).await;
        }
        page.until("document.querySelector('.older button').hidden").await;
        page.until_text(".older [role=status]", "5 older runs.").await;
        page.until("document.querySelectorAll('.runs:not(.older .runs) a.run').length === 1").await;
        page.eval("document.activeElement.blur()").await;
        page.press(['j', 'j']).await;
        page.until("document.activeElement.textContent.includes('Old question 1')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filters_ask_the_history_and_stay_in_the_address() {
    with_history(async |page| {
        page.go("#/?user=ada&state=failed").await;
        page.until(&format!("{OLDER} === 1")).await;
        page.until_text(".older a.run", "Old question 2").await;
        page.until_text(".empty", "No recent run fits the filter.").await;
        page.until_text(".filters summary", "User ada").await;
        page.client.refresh().await.unwrap();
        page.until_text(".older a.run", "Old question 2").await;
        page.until("location.hash === '#/?user=ada&state=failed'").await;
        // A filter is asked for once.
        page.until("window.asked.length === 1 && window.asked[0].includes('user=ada')").await;
        page.go("#/?thread=thread-4").await;
        page.until_text(".older a.run", "Old question 4").await;
        page.go("#/?agent=greeter").await;
        page.until(&format!("{OLDER} === 2")).await;
        page.until_text(".runs .run", "A new question").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_search_finds_older_runs_below_what_recent_ones_say() {
    with_history(async |page| {
        page.press(['/']).await;
        page.press("question 3".chars()).await;
        page.until_text(".older h2", "Older runs that say this").await;
        page.until_text(".older a.run", "Old question 3").await;
        page.until(&format!("{OLDER} === 1")).await;
        page.until_text(".older a.run", "greeter · thread-3").await;
        let below = "document.querySelector('.hits').compareDocumentPosition(
            document.querySelector('.older')) === Node.DOCUMENT_POSITION_FOLLOWING";
        assert_eq!(page.eval(below).await, json!(true));
        page.picture("history-search").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_the_history_opens_and_says_where_it_is_from() {
    with_history(async |page| {
        page.click(".older button", "Older runs").await;
        page.click(".older a.run", "Old question 1").await;
        page.until_text(".k-text", "An old answer.").await;
        page.until_text(".k-settled", "Finished").await;
        page.until_text(".chip.past", "From the history, not live").await;
        page.until("document.querySelectorAll('.menu button').length === 1").await;
        page.until_text(".older a.run[aria-current=true]", "Old question 1").await;
        page.picture("history-run").await;
        page.client.refresh().await.unwrap();
        page.until_text(".chip.past", "From the history, not live").await;
        page.open_run("A new question").await;
        page.until("!document.querySelector('.chip.past')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_view_counts_days_of_the_store() {
    with_history(async |page| {
        page.until("document.querySelectorAll('.ranges a').length === 5").await;
        page.click(".ranges a", "30 days").await;
        page.until("location.hash === '#/?since=30-days'").await;
        page.until_text(".ranges a[aria-current]", "30 days").await;
        page.until_text(".overview header", "from the store").await;
        page.until("document.querySelectorAll('[aria-label=\"By day\"] tbody tr').length === 3")
            .await;
        // The last day is the first row.
        let cells = "[...document.querySelector('[aria-label=\"By day\"] tbody tr').cells].slice(1)
            .map((it) => it.textContent).join()";
        assert_eq!(page.eval(cells).await, json!("1,1,1.0k"));
        page.picture("history-overview").await;
        page.resize(390, 844).await;
        page.go("#/overview?since=30-days").await;
        page.until("document.documentElement.scrollWidth <= 390").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_history_nothing_asks_for_it() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("greeter").model(says("Hello.")).hook(studio.hook()).build();
    agent.unwrap().call("A new question").await.unwrap();
    open(studio, async |page| {
        page.go("#/?q=question&since=90-days").await;
        page.until_text(".ranges a[aria-current]", "Day").await;
        page.until("document.querySelectorAll('.ranges a').length === 3").await;
        page.until("document.querySelector('.older').hidden").await;
        page.until_text(".hit mark", "question").await;
        assert!(!page.requests().await.iter().any(|it| it.contains("/api/history")));
    })
    .await;
}
