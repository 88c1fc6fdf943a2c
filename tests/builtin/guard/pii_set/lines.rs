//! Sentences of eight languages around a value.

/// A language: sentences with `{}` in the place of the value.
pub(crate) struct Language {
    sentences: [&'static str; 4],
}

impl Language {
    /// One of the sentences, around a value.
    pub(crate) fn around(&self, count: usize, value: &str) -> String {
        self.sentences[count % self.sentences.len()].replace("{}", value)
    }
}

pub(crate) const LANGUAGES: [Language; 8] = [
    // English.
    Language {
        sentences: [
            "Please use {} from now on.",
            "The note said \"{}\", nothing else.",
            "We checked it twice ({}), and it was right.",
            "{} is what he gave me",
        ],
    },
    // German.
    Language {
        sentences: [
            "Bitte ab sofort {} verwenden.",
            "Auf dem Zettel stand „{}“, sonst nichts.",
            "Wir haben es geprüft ({}), es stimmt.",
            "Gemeint ist: {}",
        ],
    },
    // French.
    Language {
        sentences: [
            "Merci d'utiliser {} désormais.",
            "Sur la note il y avait « {} », rien d'autre.",
            "C'est vérifié : {}; tout va bien.",
            "Voici {}!",
        ],
    },
    // Spanish.
    Language {
        sentences: [
            "Por favor use {} desde ahora.",
            "La nota decía: '{}'.",
            "¿Es correcto {}?",
            "Lo apuntó así: {}, y se fue.",
        ],
    },
    // Chinese.
    Language {
        sentences: [
            "请从现在起使用{}，谢谢。",
            "纸条上写着“{}”。",
            "我们检查了两次（{}），没有问题。",
            "内容是{}请记住",
        ],
    },
    // Japanese.
    Language {
        sentences: [
            "今後は{}をご利用ください。",
            "メモには「{}」とありました。",
            "確認しました：{}。",
            "これは {} です",
        ],
    },
    // Russian.
    Language {
        sentences: [
            "Пожалуйста, используйте {} с этого дня.",
            "В записке было «{}» и ничего больше.",
            "Мы проверили ({}), всё верно.",
            "Вот что он дал: {}",
        ],
    },
    // Arabic.
    Language {
        sentences: [
            "يرجى استخدام {} من الآن.",
            "كتب في الورقة: {}، ولا شيء آخر.",
            "هل هذا صحيح {}؟",
            "تحققنا منه ({}) مرتين",
        ],
    },
];
