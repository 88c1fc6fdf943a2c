//! Links to the studio on pages of other sites.

use std::sync::Arc;
use std::time::Duration;

use fantoccini::Locator;
use hooks_agent_core::prelude::*;
use hooks_agent_studio::Studio;

use crate::support::{Page, open, says};

/// Follows a link to this address on a page of another site.
async fn follow(page: &Page, address: &str) {
    let other = format!("data:text/html,<a id=\"link\" href=\"{address}\">Studio</a>");
    let other = other.replace('#', "%23");
    page.client.goto(&other).await.unwrap();
    page.client.find(Locator::Id("link")).await.unwrap().click().await.unwrap();
}

async fn until_live(page: &Page, picture: &str) {
    let live = Locator::Css("#connection[data-state=live]");
    let waiting = page.client.wait().at_most(Duration::from_secs(10));
    let ended = waiting.for_element(live).await;
    page.picture(picture).await;
    ended.expect("the studio opens");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_on_another_site_opens_the_studio() {
    let studio = Studio::new();
    let agent = ReActAgent::builder("clerk").model(says("Done.")).hook(studio.hook());
    let agent = Arc::new(agent.build().unwrap());
    agent.call("Go").await.unwrap();
    open(studio.agent(agent), async |page| {
        // Without the cookie, the first answer is no success: the browser logs it.
        page.may_log();
        let home = format!("http://{}/", page.server.address());
        for (name, address) in [("token", page.server.url()), ("address", home.clone())] {
            let picture = format!("link-{name}");
            follow(page, &format!("{address}#/approvals")).await;
            until_live(page, &picture).await;
            let place = page.eval("location.href").await;
            assert_eq!(place, format!("{home}#/approvals"), "the place stays, the token does not");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_access_the_page_says_what_to_do() {
    open(Studio::new(), async |page| {
        page.may_log();
        page.client.delete_all_cookies().await.unwrap();
        let home = format!("http://{}/", page.server.address());
        for address in [home.clone(), format!("{home}?token=of-an-earlier-start")] {
            follow(page, &address).await;
            let waiting = page.client.wait().at_most(Duration::from_secs(10));
            let told = waiting.for_element(Locator::XPath("//main/p[contains(., 'token')]")).await;
            page.picture("no-access").await;
            told.expect("a page for people");
        }
    })
    .await;
}
