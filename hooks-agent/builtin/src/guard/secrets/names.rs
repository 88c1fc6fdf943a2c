//! Names that secrets are given: the words in them, and the parts that say that a value is none.

/// What a word in a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// What a person chose.
    Password,
    /// The same, if it is a part of a name: `DB_PASS`, and not `bypass`.
    Pass,
    /// What a program made, and nothing else.
    Secret,
    /// What a program made, or a part of a text.
    Token,
    /// A key of any kind, which is often none that opens something.
    Key,
    /// The header of HTTP.
    Authorization,
}

/// The words of names, in lower case.
pub(super) const WORDS: &[(&str, Word)] = &[
    ("passw", Word::Password),
    ("passphrase", Word::Password),
    ("passcode", Word::Password),
    ("pwd", Word::Password),
    ("kennwort", Word::Password),
    ("contraseña", Word::Password),
    ("motdepasse", Word::Password),
    ("mot de passe", Word::Password),
    ("пароль", Word::Password),
    ("密码", Word::Password),
    ("密碼", Word::Password),
    ("Пароль", Word::Password),
    ("ПАРОЛЬ", Word::Password),
    ("senha", Word::Password),
    ("hasło", Word::Password),
    ("hasła", Word::Password),
    ("wachtwoord", Word::Password),
    ("lösenord", Word::Password),
    ("adgangskode", Word::Password),
    ("salasana", Word::Password),
    ("heslo", Word::Password),
    ("jelszó", Word::Password),
    ("parolă", Word::Password),
    ("parola", Word::Password),
    ("şifre", Word::Password),
    ("lozinka", Word::Password),
    ("slaptažodis", Word::Password),
    ("parole", Word::Password),
    ("κωδικός", Word::Password),
    ("סיסמה", Word::Password),
    ("كلمة المرور", Word::Password),
    ("पासवर्ड", Word::Password),
    ("รหัสผ่าน", Word::Password),
    ("mật khẩu", Word::Password),
    ("kata sandi", Word::Password),
    ("clave", Word::Password),
    ("mdp", Word::Password),
    ("口令", Word::Password),
    ("暗号", Word::Password),
    ("passwort", Word::Password),
    ("パスワード", Word::Password),
    ("비밀번호", Word::Password),
    ("secret", Word::Secret),
    ("token", Word::Token),
    ("apikey", Word::Secret),
    ("api_key", Word::Secret),
    ("api-key", Word::Secret),
    ("api key", Word::Secret),
    ("access_key", Word::Secret),
    ("accesskey", Word::Secret),
    ("private_key", Word::Secret),
    ("credential", Word::Token),
    ("creds", Word::Token),
    ("密钥", Word::Secret),
    ("令牌", Word::Token),
    ("api", Word::Key),
    ("auth", Word::Key),
    ("access", Word::Key),
    ("key", Word::Key),
    ("pass", Word::Pass),
    ("pw", Word::Pass),
    ("psk", Word::Pass),
    ("sessionid", Word::Secret),
    ("sessid", Word::Secret),
    ("connect.sid", Word::Secret),
    ("schlüssel", Word::Secret),
    ("clé api", Word::Secret),
    ("токен", Word::Token),
    ("トークン", Word::Token),
    ("authorization", Word::Authorization),
];

/// Parts of names whose values everybody may read.
const OPEN_PARTS: &[&str] = &[
    "public",
    "primary",
    "foreign",
    "csrf",
    "xsrf",
    "accessor",
    "accessibility",
    "sort",
    "partition",
    "cache",
    "publishable",
    "authenticity",
];

/// Last parts of names whose values say something of a secret.
const LAST_PARTS: &[&str] = &[
    "id",
    "ids",
    "name",
    "names",
    "hash",
    "size",
    "length",
    "len",
    "version",
    "type",
    "url",
    "uri",
    "path",
    "file",
    "dir",
    "pair",
    "index",
    "count",
    "date",
    "time",
    "vault",
    "store",
    "event",
    "source",
    "algorithm",
    "alg",
    "format",
    "kind",
    "prefix",
    "label",
    "ref",
    "arn",
    "host",
    "email",
    "user",
    "username",
    "title",
    "field",
    "policy",
    "expiry",
    "expires",
    "endpoint",
    "region",
    "signatures",
    "timeout",
    "at",
    "encryption",
    "placeholder",
    "hint",
    "error",
    "message",
    "help",
    "strength",
    "reset",
    "changed",
    "required",
    "algo",
    "address",
    "secrets",
    "class",
];

/// Whether a value of this name may be a secret, such as `api_token`, but not `token_type`.
pub(super) fn names_secret(name: &[u8]) -> bool {
    let parts = parts_of(name);
    let is_open = parts.iter().any(|part| OPEN_PARTS.contains(&&**part));
    !is_open && parts.last().is_none_or(|last| !LAST_PARTS.contains(&&**last))
}

/// The parts of a name in lower case: `apiKey`, `API_KEY` and `api-key` have `api` and `key`.
fn parts_of(name: &[u8]) -> Vec<String> {
    let (mut parts, mut before) = (vec![String::new()], b'_');
    for byte in name {
        let is_hump = before.is_ascii_lowercase() && byte.is_ascii_uppercase();
        if (is_hump || !byte.is_ascii_alphanumeric())
            && parts.last().is_some_and(|it| !it.is_empty())
        {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| byte.is_ascii_alphanumeric()) {
            part.push(char::from(byte.to_ascii_lowercase()));
        }
        before = *byte;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::{names_secret, parts_of};

    #[test]
    fn the_last_part_of_a_name_says_what_its_value_is() {
        for name in ["apiKey", "DB_PASSWORD", "github-token", "token"] {
            assert!(names_secret(name.as_bytes()), "{name}");
        }
        for name in ["token_type", "publicKey", "passwordResetTimeout", "keyVault", "csrf-token"] {
            assert!(!names_secret(name.as_bytes()), "{name}");
        }
        assert_eq!(parts_of(b"--myApi_KEY"), ["my", "api", "key"]);
    }
}
