//! Joins the studio of another process.

use crate::builder::Studio;
use crate::error::StudioError;
use crate::worker::client::Client;
use crate::worker::studio_worker::StudioWorker;

impl Studio {
    /// Joins the studio of another process by the key of its [`joined_by`](Self::joined_by): the runs of this process
    /// are shown there too, its questions are decided there, and its calls interrupted. Nothing is sent until the worker
    /// is [served](StudioWorker::serve). A page of its own may be [bound](Self::bind) beside.
    ///
    /// The other studio shows what this one shows: [`show_content`](Self::show_content) and the like are set here.
    /// Who decides is authenticated there, and checked here: the program trusts the studio that it joins.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_agent::builtin::connect::Studio;
    /// use hooks_agent::prelude::*;
    ///
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # const KEY: &str = "a-key-of-16-letters-or-more";
    /// // In one process:
    /// let server = Studio::new().joined_by(KEY).bind("127.0.0.1:0").await?;
    /// let serving = tokio::spawn(server.serve());
    /// # let url = format!("http://{}", server.address());
    ///
    /// // In each of the others:
    /// let studio = Studio::new();
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("clerk").model(model).hook(studio.hook()).build()?;
    /// let agent = Arc::new(agent);
    /// let worker = studio.agent(agent.clone()).join(&url, KEY)?;
    /// let sending = tokio::spawn(worker.serve());
    /// agent.call("Go").await?;
    /// worker.shutdown().await;
    /// assert_eq!(worker.dropped(), 0);
    /// # sending.await?;
    /// # server.shutdown().await;
    /// # serving.await??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`StudioError::Join`] if the URL is none of `http` or `https`, or of `http` and another machine: runs do not cross
    /// a network without encryption. [`StudioError::WeakKey`], [`StudioError::DuplicateAgent`].
    pub fn join(
        &self,
        url: impl AsRef<str>,
        key: impl AsRef<str>,
    ) -> Result<StudioWorker, StudioError> {
        Ok(StudioWorker::new(self.desk()?, Client::new(url.as_ref(), key.as_ref())?))
    }
}
