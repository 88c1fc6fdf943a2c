//! A browser with the cookie of a studio.

use hooks_agent_studio::{Studio, StudioServer};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

use crate::support::Stream;

/// A browser with the cookie of a studio.
#[derive(Clone)]
pub(crate) struct Browser {
    pub(crate) client: Client,
    pub(crate) server: StudioServer,
    pub(crate) cookie: String,
}

/// Serves a studio and opens it in a browser.
pub(crate) async fn open(studio: &Studio) -> Browser {
    open_at(studio, "127.0.0.1:0").await
}

/// Serves a studio at an address and opens it in a browser.
pub(crate) async fn open_at(studio: &Studio, address: &str) -> Browser {
    let server = studio.bind(address).await.unwrap();
    tokio::spawn(server.serve());
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let answer = client.get(server.url()).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    Browser { client, server, cookie }
}

impl Browser {
    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address())
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.address(path)).header("cookie", &self.cookie)
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.json().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        self.request(Method::POST, path).json(body).send().await.unwrap()
    }

    /// Opens the stream, after the entry that was seen last.
    pub(crate) async fn events(&self, last: Option<u64>) -> Stream {
        let mut request = self.request(Method::GET, "/api/events");
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        Stream::new(answer)
    }

    /// Returns all runs, the newest first.
    pub(crate) async fn runs(&self) -> Vec<Value> {
        self.json("/api/runs").await["runs"].as_array().unwrap().clone()
    }

    /// Returns the entries of the newest run that is not part of another.
    pub(crate) async fn newest(&self) -> Value {
        let runs = self.runs().await;
        let run = runs.iter().find(|run| run.get("parent").is_none()).unwrap();
        self.json(&format!("/api/runs/{}", run["run"].as_str().unwrap())).await
    }

    /// Waits for the question that waits next.
    pub(crate) async fn question(&self) -> Value {
        let waiting = self.json("/api/approvals").await;
        waiting["waiting"][0].clone()
    }

    /// Decides about a question as it was shown.
    pub(crate) async fn decide(&self, question: &Value, mut body: Value) -> (StatusCode, Value) {
        if body.get("digest").is_none() {
            body["digest"] = question["digest"].clone();
        }
        let path = format!("/api/approvals/{}", question["id"].as_str().unwrap());
        let answer = self.post(&path, &body).await;
        (answer.status(), answer.json().await.unwrap())
    }
}
