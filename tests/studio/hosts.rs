//! The hosts and the origins of requests.

use std::net::SocketAddr;

use hooks_agent_studio::Studio;
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{POSTS, open, seen};

/// Sends a request as it is written and returns the answer up to its end.
async fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

// ST-02
#[tokio::test]
async fn another_host_is_refused_also_with_the_cookie() {
    let (browser, _agent) = seen().await;
    let (address, cookie) = (browser.server.address(), &browser.cookie);
    let port = address.port();
    let ask = async |hosts: &str, path: &str| {
        let request =
            format!("GET {path} HTTP/1.1\n{hosts}Cookie: {cookie}\nConnection: close\n\n");
        raw(address, &request).await
    };
    let refused = [
        "Host: evil.test\n".to_owned(),
        format!("Host: evil.test:{port}\n"),
        "Host: 127.0.0.1\n".to_owned(),
        format!("Host: 127.0.0.1:{}\n", port.wrapping_add(1)),
        format!("Host: 127.0.0.1:{port}.evil.test\n"),
        format!("Host: localhost.evil.test:{port}\n"),
        format!("Host: user@127.0.0.1:{port}\n"),
        format!("Host: 127.0.0.1:{port}\nHost: evil.test\n"),
        "Host: \n".to_owned(),
    ];
    for host in refused {
        for path in ["/api/runs", "/", &format!("/?{}", cookie.replace("studio_", "token="))] {
            let answer = ask(&host, path).await;
            let is_refused =
                answer.starts_with("HTTP/1.1 421") || answer.starts_with("HTTP/1.1 400");
            assert!(is_refused && !answer.contains("secret"), "{host}: {answer}");
            assert!(!answer.contains("set-cookie"));
        }
    }
    let answer = ask(&format!("Host: 127.0.0.1:{port}\n"), "http://evil.test/api/runs").await;
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
    let old = format!("GET /api/runs HTTP/1.0\nCookie: {cookie}\n\n");
    assert!(raw(address, &old).await.starts_with("HTTP/1.0 421"));
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let answer = ask(&format!("Host: {host}:{port}\n"), "/api/runs").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{host}: {answer}");
    }
}

#[tokio::test]
async fn a_host_of_the_program_is_allowed() {
    let studio = Studio::new().allowed_host("Studio.Example").allowed_host("proxy.example:8443");
    let browser = open(&studio).await;
    let (address, cookie) = (browser.server.address(), &browser.cookie);
    let ask = async |host: &str, origin: &str| {
        let request = format!(
            "POST /api/approvals/x HTTP/1.1\nHost: {host}\nOrigin: {origin}\nCookie: {cookie}\n\
             Content-Type: application/json\nContent-Length: 2\nConnection: close\n\n{{}}"
        );
        raw(address, &request).await[9..12].to_owned()
    };
    assert_eq!(ask("studio.example", "https://studio.example").await, "400");
    assert_eq!(ask("proxy.example:8443", "https://proxy.example:8443").await, "400");
    assert_eq!(ask("proxy.example", "https://proxy.example").await, "421");
    assert_eq!(ask("studio.example", "https://proxy.example:8443").await, "403");
}

// ST-03
#[tokio::test]
async fn another_origin_may_not_post_or_read_the_stream() {
    let (browser, _agent) = seen().await;
    let host = browser.server.address().to_string();
    let foreign = [
        "http://evil.test".to_owned(),
        "null".to_owned(),
        String::new(),
        format!("https://{host}"),
        format!("http://{host}.evil.test"),
        format!("http://{}", host.replace("127.0.0.1", "localhost")),
        "http://127.0.0.1:1".to_owned(),
    ];
    for origin in foreign {
        for path in POSTS {
            let request = browser.request(Method::POST, path).json(&json!({}));
            let answer = request.header("origin", &origin).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{path} {origin}");
        }
        let request = browser.request(Method::GET, "/api/events").header("origin", &origin);
        assert_eq!(request.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{origin}");
    }
    let own = format!("http://{host}");
    let request = browser.request(Method::GET, "/api/events").header("origin", own);
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    // A browser asks before it sends JSON elsewhere, and gets no leave.
    let ask =
        browser.request(Method::OPTIONS, "/api/approvals/x").header("origin", "http://evil.test");
    let answer = ask.send().await.unwrap();
    assert!(answer.status().is_client_error());
    assert!(answer.headers().keys().all(|name| !name.as_str().starts_with("access-control")));
}

#[tokio::test]
async fn a_request_with_two_origins_is_of_another_one() {
    let (browser, _agent) = seen().await;
    let (host, cookie) = (browser.server.address(), &browser.cookie);
    let own = format!("Origin: http://{host}\n");
    for origins in [format!("{own}{own}"), format!("{own}Origin: http://evil.test\n")] {
        let request = format!(
            "POST /api/approvals/x HTTP/1.1\nHost: {host}\n{origins}Cookie: {cookie}\n\
             Content-Type: application/json\nContent-Length: 2\nConnection: close\n\n{{}}"
        );
        let answer = raw(host, &request).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{origins}: {answer}");
    }
}
