//! A simulated person: opens the page, and decides questions through its API.

use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::{Value, json};

use crate::Failure;

/// A person who opened the page.
pub(crate) struct Person {
    client: Client,
    address: String,
    cookie: String,
}

impl Person {
    /// Opens the address with the token, which is exchanged for a cookie.
    pub(crate) async fn open(url: &str) -> Result<Self, Failure> {
        let client = Client::builder().redirect(Policy::none()).build()?;
        let opened = client.get(url).send().await?;
        let cookie = opened.headers().get("set-cookie").ok_or("the page gives no cookie")?;
        let cookie = cookie.to_str()?.split(';').next().unwrap_or_default().to_owned();
        let address = url.split("/?").next().unwrap_or(url).to_owned();
        Ok(Self { client, address, cookie })
    }

    async fn get(&self, path: &str) -> Result<Value, Failure> {
        let request = self.client.get(format!("{}{path}", self.address));
        let answer = request.header("cookie", &self.cookie).send().await?;
        Ok(serde_json::from_str(&answer.error_for_status()?.text().await?)?)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Response, Failure> {
        let request = self.client.post(format!("{}{path}", self.address));
        let request = request.header("cookie", &self.cookie);
        let request = request.header("content-type", "application/json");
        Ok(request.body(body.to_string()).send().await?)
    }

    /// Approves what is small and denies the rest; decides one of them twice.
    pub(crate) async fn decide_all(&self) -> Result<(), Failure> {
        let waiting = self.get("/api/approvals").await?["waiting"].take();
        for it in waiting.as_array().into_iter().flatten() {
            let (tool, arguments) = (&it["tool"], &it["arguments"]);
            let path = format!("/api/approvals/{}", it["id"].as_str().unwrap_or_default());
            let decision = if arguments["euros"].as_u64() < Some(200) {
                json!({ "decision": "approve", "digest": it["digest"] })
            } else {
                json!({ "decision": "deny", "reason": "Ask me on Friday.", "digest": it["digest"] })
            };
            let first = self.post(&path, &decision).await?.status();
            let second = self.post(&path, &decision).await?.status();
            println!("  {} {tool} {arguments}: {first}, again: {second}", decision["decision"]);
        }
        Ok(())
    }

    /// Prints the runs of the page once none of them runs.
    pub(crate) async fn print_runs(&self) -> Result<(), Failure> {
        let runs = loop {
            let runs = self.get("/api/runs").await?["runs"].take();
            let is_running = |run: &Value| run["state"] == "running";
            if !runs.as_array().is_some_and(|runs| runs.iter().any(is_running)) {
                break runs;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        println!("the page shows:");
        for run in runs.as_array().into_iter().flatten().rev() {
            let indent = if run.get("parent").is_some() { "    " } else { "  " };
            let (agent, state) = (run["agent"].as_str(), run["state"].as_str());
            let (agent, state) = (agent.unwrap_or_default(), state.unwrap_or_default());
            println!("{indent}{agent} {state}: {} rounds, {} tools", run["rounds"], run["tools"]);
        }
        Ok(())
    }
}
