//! Splits an expression into tokens, and refuses one that is too large before anything recurses over it.

use crate::expression::syntax::literal;
use crate::expression::syntax::mistake::Mistake;

/// The longest expression, in bytes.
pub(crate) const MOST_BYTES: usize = 1024;
/// The most operators, among them the dots of fields and methods.
pub(crate) const MOST_OPERATORS: usize = 64;
/// The most brackets that are open at once.
pub(crate) const MOST_OPEN: usize = 24;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Int(u64),
    Uint(u64),
    Double(f64),
    Text(String),
    Name(String),
    Sign(&'static str),
    End,
}

impl TokenKind {
    /// Returns the token as an error shows it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Int(_) | Self::Uint(_) | Self::Double(_) => "a number".to_owned(),
            Self::Text(_) => "a string".to_owned(),
            Self::Name(name) => format!("`{name}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Longer signs come first.
const SIGNS: [&str; 25] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}", "=",
];

/// Splits an expression into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Mistake> {
    if text.len() > MOST_BYTES {
        let found = text.len();
        let message = format!("expected at most {MOST_BYTES} bytes, found {found}");
        return Err(Mistake::new(0, message));
    }
    let mut lexer = Lexer { text, at: 0, operators: 0, open: Vec::new() };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.token()?;
        let is_end = token.kind == TokenKind::End;
        tokens.push(token);
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    operators: usize,
    /// The brackets that are open, with their places.
    open: Vec<(&'static str, usize)>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn token(&mut self) -> Result<Token, Mistake> {
        self.skip_blanks();
        let at = self.at;
        let Some(first) = self.rest().chars().next() else {
            if let Some((sign, at)) = self.open.last() {
                return Err(Mistake::new(*at, format!("`{sign}` is not closed")));
            }
            return Ok(Token { at, kind: TokenKind::End });
        };
        let is_fraction = || self.rest()[1..].starts_with(|it: char| it.is_ascii_digit());
        let kind = if first.is_ascii_digit() || first == '.' && is_fraction() {
            self.number()?
        } else if let Some(text) = self.string()? {
            TokenKind::Text(text)
        } else if first.is_ascii_alphabetic() || first == '_' {
            self.name()?
        } else {
            TokenKind::Sign(self.sign(first)?)
        };
        Ok(Token { at, kind })
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blanks;
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn number(&mut self) -> Result<TokenKind, Mistake> {
        let (length, number) =
            literal::number(self.rest()).map_err(|why| Mistake::new(self.at, why))?;
        self.at += length;
        if self.rest().starts_with(|it: char| it.is_alphanumeric() || it == '_') {
            let message = "expected a blank or an operator after the number";
            return Err(Mistake::new(self.at, message));
        }
        Ok(number)
    }

    fn string(&mut self) -> Result<Option<String>, Mistake> {
        match literal::string(self.rest()) {
            None => Ok(None),
            Some(Ok((length, text))) => {
                self.at += length;
                Ok(Some(text))
            }
            Some(Err((offset, why))) => Err(Mistake::new(self.at + offset, why)),
        }
    }

    fn name(&mut self) -> Result<TokenKind, Mistake> {
        let rest = self.rest();
        let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let length = rest.find(|it| !is_of_name(it)).unwrap_or(rest.len());
        let name = rest[..length].to_owned();
        if name == "in" {
            self.count(self.at)?;
        }
        self.at += length;
        Ok(TokenKind::Name(name))
    }

    fn sign(&mut self, first: char) -> Result<&'static str, Mistake> {
        let at = self.at;
        let Some(sign) = SIGNS.into_iter().find(|sign| self.rest().starts_with(sign)) else {
            let code = u32::from(first);
            let message = if first.is_alphabetic() {
                format!("names have the letters a to z alone, found `{first}` (U+{code:04X})")
            } else {
                format!("unexpected character `{}` (U+{code:04X})", first.escape_debug())
            };
            return Err(Mistake::new(at, message));
        };
        match sign {
            "=" => return Err(Mistake::new(at, "expected `==`, found `=`")),
            "(" | "[" | "{" => {
                self.open.push((sign, at));
                if self.open.len() > MOST_OPEN {
                    let message = format!("expected at most {MOST_OPEN} open brackets");
                    return Err(Mistake::new(at, message));
                }
                if sign == "[" {
                    self.count(at)?;
                }
            }
            ")" | "]" | "}" => {
                let closes = match self.open.pop() {
                    Some(("(", _)) => ")",
                    Some(("[", _)) => "]",
                    Some(_) => "}",
                    None => "",
                };
                if closes != sign {
                    return Err(Mistake::new(at, format!("`{sign}` closes nothing")));
                }
            }
            "," | ":" => {}
            _ => self.count(at)?,
        }
        self.at += sign.len();
        Ok(sign)
    }

    fn count(&mut self, at: usize) -> Result<(), Mistake> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            return Err(Mistake::new(at, format!("expected at most {MOST_OPERATORS} operators")));
        }
        Ok(())
    }
}
