//! Parses an expression in the syntax of CEL.

use crate::expression::syntax::lexer::{Token, TokenKind, tokens};
use crate::expression::syntax::mistake::Mistake;
use crate::expression::syntax::tree::{Binary, Kind, Syntax, Unary};

/// Words that CEL keeps for itself.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Parses an expression.
///
/// Its depth is bounded by what [`tokens`] lets through.
pub(crate) fn parse(text: &str) -> Result<Syntax, Mistake> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0 };
    if parser.peek().kind == TokenKind::End {
        return Err(Mistake::new(0, "expected an expression, found nothing"));
    }
    let expression = parser.expression()?;
    match parser.peek() {
        Token { kind: TokenKind::End, .. } => Ok(expression),
        token => Err(unexpected("an operator", token)),
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
}

fn unexpected(expected: &str, token: &Token) -> Mistake {
    Mistake::new(token.at, format!("expected {expected}, found {}", token.kind.shown()))
}

impl Parser {
    fn peek(&self) -> &Token {
        // The last token is the end, and nothing takes it.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    /// Takes a sign if it comes next.
    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek().kind, TokenKind::Sign(it) if it == sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str, or: &str) -> Result<(), Mistake> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(unexpected(&format!("{or}`{sign}`"), self.peek()))
        }
    }

    fn expression(&mut self) -> Result<Syntax, Mistake> {
        let condition = self.binary(1)?;
        let at = self.peek().at;
        if !self.takes("?") {
            return Ok(condition);
        }
        let yes = self.binary(1)?;
        self.expect(":", "")?;
        let no = self.expression()?;
        Ok(Syntax { at, kind: Kind::Condition(Box::new([condition, yes, no])) })
    }

    /// Parses operations that bind at least so tightly.
    fn binary(&mut self, least: u8) -> Result<Syntax, Mistake> {
        let mut left = self.unary()?;
        while let Some(operator) = self.operator().filter(|it| it.precedence() >= least) {
            let at = self.take().at;
            let right = self.binary(operator.precedence() + 1)?;
            left = Syntax { at, kind: Kind::Binary(operator, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn operator(&self) -> Option<Binary> {
        let sign = match &self.peek().kind {
            TokenKind::Sign(sign) => sign,
            TokenKind::Name(name) if name == "in" => return Some(Binary::In),
            _ => return None,
        };
        Some(match *sign {
            "||" => Binary::Or,
            "&&" => Binary::And,
            "==" => Binary::Equal,
            "!=" => Binary::Unequal,
            "<" => Binary::Less,
            "<=" => Binary::LessOrEqual,
            ">" => Binary::Greater,
            ">=" => Binary::GreaterOrEqual,
            "+" => Binary::Add,
            "-" => Binary::Subtract,
            "*" => Binary::Multiply,
            "/" => Binary::Divide,
            "%" => Binary::Remainder,
            _ => return None,
        })
    }

    fn unary(&mut self) -> Result<Syntax, Mistake> {
        let at = self.peek().at;
        if self.takes("!") {
            let operand = Box::new(self.unary()?);
            return Ok(Syntax { at, kind: Kind::Unary(Unary::Not, operand) });
        }
        if !self.takes("-") {
            return self.member();
        }
        // The smallest whole number has no positive one.
        if let TokenKind::Int(number) = self.peek().kind {
            self.next += 1;
            let number = 0_i64.checked_sub_unsigned(number);
            let number = number.ok_or_else(|| Mistake::new(at, "expected a number of 64 bits"))?;
            return self.members(Syntax { at, kind: Kind::Int(number) });
        }
        let operand = Box::new(self.unary()?);
        Ok(Syntax { at, kind: Kind::Unary(Unary::Minus, operand) })
    }

    fn member(&mut self) -> Result<Syntax, Mistake> {
        let primary = self.primary()?;
        self.members(primary)
    }

    /// Parses the fields, methods and indexes of a value.
    fn members(&mut self, mut value: Syntax) -> Result<Syntax, Mistake> {
        loop {
            let at = self.peek().at;
            let kind = if self.takes(".") {
                let field = self.take();
                let TokenKind::Name(name) = field.kind else {
                    return Err(unexpected("the name of a field", &field));
                };
                if self.takes("(") {
                    Kind::Call(Some(Box::new(value)), name, self.list(")")?)
                } else {
                    Kind::Select(Box::new(value), name)
                }
            } else if self.takes("[") {
                let index = self.expression()?;
                self.expect("]", "an operator or ")?;
                Kind::Index(Box::new(value), Box::new(index))
            } else {
                return Ok(value);
            };
            value = Syntax { at, kind };
        }
    }

    fn primary(&mut self) -> Result<Syntax, Mistake> {
        let token = self.take();
        let at = token.at;
        let kind = match token.kind {
            TokenKind::Int(number) => {
                let number = i64::try_from(number);
                Kind::Int(number.map_err(|_| Mistake::new(at, "expected a number of 64 bits"))?)
            }
            TokenKind::Uint(number) => Kind::Uint(number),
            TokenKind::Double(number) => Kind::Double(number),
            TokenKind::Text(text) => Kind::Text(text),
            TokenKind::Name(name) => self.named(at, name)?,
            TokenKind::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")", "an operator or ")?;
                return Ok(inner);
            }
            TokenKind::Sign("[") => Kind::List(self.list("]")?),
            TokenKind::Sign("{") => Kind::Map(self.entries()?),
            kind => return Err(unexpected("a value", &Token { at, kind })),
        };
        Ok(Syntax { at, kind })
    }

    fn named(&mut self, at: usize, name: String) -> Result<Kind, Mistake> {
        Ok(match name.as_str() {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "null" => Kind::Null,
            "in" => return Err(Mistake::new(at, "expected a value, found `in`")),
            word if RESERVED.contains(&word) => {
                return Err(Mistake::new(at, format!("`{word}` is a reserved word")));
            }
            _ if self.takes("(") => Kind::Call(None, name, self.list(")")?),
            _ => Kind::Name(name),
        })
    }

    /// Parses what stands between commas up to a bracket. A comma may stand before that of a list.
    fn list(&mut self, close: &str) -> Result<Vec<Syntax>, Mistake> {
        let mut list = Vec::new();
        while !self.takes(close) {
            list.push(self.expression()?);
            if self.takes(close) {
                break;
            }
            self.expect(",", &format!("an operator, `{close}` or "))?;
            if close == ")" && matches!(self.peek().kind, TokenKind::Sign(")")) {
                return Err(unexpected("an argument", self.peek()));
            }
        }
        Ok(list)
    }

    fn entries(&mut self) -> Result<Vec<(Syntax, Syntax)>, Mistake> {
        let mut entries = Vec::new();
        while !self.takes("}") {
            let key = self.expression()?;
            self.expect(":", "an operator or ")?;
            entries.push((key, self.expression()?));
            if self.takes("}") {
                break;
            }
            self.expect(",", "an operator, `}` or ")?;
        }
        Ok(entries)
    }
}
