//! The reply of the server.

/// The most bytes of a reply.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// What the server has the program print, and the exit code.
#[derive(Debug)]
pub(crate) struct Reply {
    body: Vec<u8>,
    output: usize,
    code: u8,
}

impl Reply {
    /// Reads a reply of HTTP; nothing if it has not arrived as a whole.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, String> {
        if bytes.len() > MOST_BYTES {
            return Err("the server says too much".to_owned());
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = str::from_utf8(&bytes[..end]).map_err(|_| "the server speaks no HTTP")?;
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        let is_ok = status.starts_with("HTTP/1.1 200 ");
        let (mut length, mut output, mut code) = (None, None, None);
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse::<usize>().ok(),
                "hooks-agent-output" => output = value.parse::<usize>().ok(),
                "hooks-agent-code" => code = value.parse::<u8>().ok(),
                _ => {}
            }
        }
        if !is_ok {
            let status = status.strip_prefix("HTTP/1.1 ").unwrap_or(status);
            return Err(format!("the server refused: {}", status.escape_debug()));
        }
        let (Some(length), Some(output), Some(code)) = (length, output, code) else {
            return Err("the server is not `hooks-agent serve`".to_owned());
        };
        let body = &bytes[end + 4..];
        if output > length || body.len() > length {
            return Err("the server says another length than it sends".to_owned());
        }
        if body.len() < length {
            return Ok(None);
        }
        Ok(Some(Self { body: body.to_vec(), output, code }))
    }

    pub(crate) fn output(&self) -> &[u8] {
        &self.body[..self.output]
    }

    pub(crate) fn error(&self) -> &[u8] {
        &self.body[self.output..]
    }

    pub(crate) const fn code(&self) -> u8 {
        self.code
    }
}
