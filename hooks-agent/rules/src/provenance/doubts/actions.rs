//! Actions: the words by which a text speaks of what a tool does, in twelve languages.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::provenance::labels::name_words;
use crate::provenance::reading::fold::{is_of_word, words};
use crate::provenance::reading::needle::Needle;
use crate::provenance::reading::text::{Place, Text};

/// The words of an action in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish and Russian,
/// in lower case, those before `*` with all endings; and those of Chinese and Japanese.
struct Action {
    english: &'static str,
    others: &'static str,
    without_blanks: &'static str,
}

const ACTIONS: [Action; 10] = [
    // To send, to publish.
    Action {
        english: "send sends sending sent mail* e-mail* email* forward* write writes writing wrote \
                  reply* replies respond* tell tells told notify* notif* inform informs message \
                  messages messaging text texts post posts posting posted publish* upload* announc* \
                  share* sharing tweet*",
        others: "schick* sende* schreib* weiterleite* weiterzuleiten antworte* beantworte* \
                  benachrichtig* mitteil* mitzuteilen verschick* envoie* envoy* écris écrire écrivez \
                  réponds répondre répondez préviens prévenir transmets transmettre informe* envía \
                  envia enviar envíe envíale envíales manda mandar mándale reenvía reenviar escribe \
                  escribir responde responder avisa avisar notifica* invia inviare manda mandare \
                  inoltra* scrivi scrivere rispondi rispondere avvisa* informa envie enviar mande \
                  mandar encaminhe encaminhar escreva escrever responda responder avise avisar stuur \
                  sturen verstuur* zend zenden verzend* schrijf schrijven antwoord* doorsturen \
                  bericht* wyślij wysłać wyślesz prześlij przesłać napisz napisać odpowiedz \
                  odpowiedzieć powiadom* gönder* yolla* ilet iletin yaz yazın bildir* cevapla* \
                  yanıtla* отправ* пошл* послать перешли* переслать напиши* написать ответь* ответить \
                  сообщи* уведом* veröffentlich* hochlad* poste posten teile teilen publie* publier \
                  téléverse* annonce* partage* poste poster publica* sube subir anuncia* comparte \
                  pubblica* carica* annuncia* publique publicar carregue carregar anuncie anunciar \
                  poste plaats plaatsen publiceer* upload* deel opublikuj* zamieść wrzuć ogłoś* \
                  yayınla* yükle* paylaş* duyur* опублик* размест* загруз* выложи*",
        without_blanks: "发送 发给 寄 转发 回复 告诉 通知 写信 发邮件 发消息 送っ 送信 送り 転送 返信 知らせ 伝え 書いて 发布 发表 上传 公布 张贴 投稿 公開 掲載",
    },
    // To pay.
    Action {
        english: "pay pays paying paid payment* transfer* refund* remit* reimburs* money transaction* \
                  settle",
        others: "zahl* bezahl* überweis* erstatt* überwies* paie* payer payez pai paiement* virement* \
                  vire rembours* verse verser paga pagar pague págale transfiere transferir \
                  transferencia* reembols* paga pagare pagamento bonifico bonifica* trasferisci \
                  trasferire rimbors* pague pagar pagamento transfira transferir reembols* betaal* \
                  betalen overmak* maak overschrijv* terugbetaal* zapłać* zapłaci* przelej przelać \
                  przelew* zwróć opłać* öde ödeyin öderim ödeme* havale* iade оплат* заплат* перевед* \
                  перевести верни* вернуть",
        without_blanks: "支付 付款 转账 汇款 退款 支払 払っ 振り込 送金 返金",
    },
    // To delete.
    Action {
        english: "delete* deleting remove* removing cancel* erase* trash* discard* unsubscrib* purge* \
                  wipe* kick kicks",
        others: "lösch* entfern* storni* absag* streich* supprim* efface* annule* annuler retire* \
                  retirer enlève* enlever elimina* borra* bórra* cancela* quita* quítal* elimin* \
                  cancell* rimuov* annulla* apague apagar exclua excluir remova remover cancel* \
                  verwijder* annuleer* annuleren schrap* wis wissen usuń usunąć skasuj* skasować \
                  anuluj* odwołaj* sil silin siler kaldır* iptal удали* отмени* сотри* стереть убери*",
        without_blanks: "删除 取消 移除 清除 削除 消して 取り消 キャンセル",
    },
    // To create, to add.
    Action {
        english: "create* creating add adds adding added make makes making made put puts schedule* \
                  scheduling plan plans planning regist* insert* append* arrange* organi* block \
                  remind* setup",
        others: "erstell* anleg* hinzufüg* hinzuzufügen eintrag* trag trage termin* erinner* plane \
                  crée* créer ajoute* ajouter planifi* organise* rappelle* rappeler mets mettre crea \
                  crear añade añadir agrega agregar programa programar agenda agendar pon poner \
                  recuérda* crea creare aggiung* pianific* organizz* metti mettere ricordami crie \
                  criar adicione adicionar marque marcar agende agendar coloque lembre* maak maken \
                  aanmaken toevoeg* voeg plan zet herinner* utwórz utworzyć stwórz stworzyć dodaj \
                  dodać zaplanuj* umów przypomnij* oluştur* ekle ekleyin planla* koy hatırlat* созда* \
                  добав* запланир* постав* напомни* запиши*",
        without_blanks: "创建 新建 添加 加上 安排 计划 提醒 作成 追加 予定 設定",
    },
    // To reserve.
    Action {
        english: "reserv* book books booking booked rent rents renting hire hires",
        others: "reservier* buche buchen buch gebucht miete mieten réserve* réserver loue louer \
                  reserva* alquila* alquilar prenota* noleggia* affitta* reserve reservar alugue \
                  alugar reserveer* reserveren boek boeken huur huren zarezerwuj* zarezerwować \
                  wynajmij wynająć rezerv* kirala* ayırt* заброни* брони* аренд* сними",
        without_blanks: "预订 预约 预定 租 予約 借り",
    },
    // To change.
    Action {
        english: "update* updating change* changing modify* modif* edit edits editing edited adjust* \
                  correct corrects replace* replacing rename* move moves moving moved reschedul* \
                  postpon* shift switch reset fix set sets",
        others: "aktualisier* ändere ändern änder anpass* passe bearbeit* korrigier* ersetz* \
                  umbenenn* verschieb* verleg* modifie* change changer corrige* remplace* déplace* \
                  reporte* actualiza* cambia* ajusta* corrige* reemplaza* mueve mover aplaza* \
                  aggiorna* cambia* modifica* correggi* sostitui* sposta* atualize atualizar mude \
                  mudar altere alterar corrija corrigir substitua mova mover adie adiar wijzig* \
                  verander* aanpass* pas bijwerk* vervang* verplaats* verzet* zmień zmienić \
                  zaktualizuj* popraw* zastąp* przenieś przesuń edytuj* güncelle* değiştir* düzelt* \
                  taşı ertele* обнови* обновить измени* исправ* замени* перенес* переимен* поменя*",
        without_blanks: "更新 修改 更改 改成 调整 替换 移动 推迟 変更 修正 直して 移動",
    },
    // To invite, to give access.
    Action {
        english: "invite* inviting add adds adding join joins share* sharing grant grants access \
                  permission*",
        others: "einlad* lade lädst einzuladen teile teilen freigeb* hinzufüg* berechtig* invite* \
                  inviter partage* ajoute* accès invita* comparte compartir añade añadir agrega \
                  agregar acceso invita* condividi* aggiungi accesso convide convidar compartilhe \
                  compartilhar adicione adicionar acesso uitnodig* nodig deel delen voeg toegang \
                  zaproś zaprosić udostępni* dodaj dodać dostęp davet paylaş* ekle erişim приглас* \
                  подели* добав* доступ*",
        without_blanks: "邀请 分享 共享 添加 招待 共有 追加",
    },
    // To open, to read.
    Action {
        english: "visit visits visiting open opens opening read reads reading browse* look looks check \
                  checks checking view go see fetch* get find finds finding search* download* summari*",
        others: "besuche besuchen öffne* lies lese lesen schau* suche suchen finde finden hole holen \
                  zeige* prüfe* zusammenfass* fasse visite* ouvre ouvrir ouvrez lis lire lisez \
                  regarde* vérifie* cherche* trouve* télécharge* résume* visita* abre abrir lee leer \
                  mira mirar revisa* busca* encuentra* descarga* resume resumir visita* apri aprire \
                  leggi leggere guarda* controlla* cerca* trova* scarica* riassumi* visite abra abrir \
                  leia ler veja ver verifique procure encontre baixe resuma bezoek* open lees lezen \
                  bekijk* zoek* vind vinden haal* samenvat* vat odwiedź otwórz przeczytaj* sprawdź* \
                  zobacz* znajdź* pobierz* podsumuj* ziyaret açın oku okuyun bak bakın kontrol ara bul \
                  indir* özetle* посети* открой* открыть прочти* прочит* посмотри* провер* найди* \
                  найти скача*",
        without_blanks: "访问 打开 阅读 查看 看看 检查 查找 搜索 下载 总结 開い 読ん 見て 確認 探し 検索 要約",
    },
    // To run.
    Action {
        english: "run runs running execute* start starts starting launch* call calls deploy* install* \
                  merge* approv*",
        others: "ausführ* führe starte* installier* genehmig* exécute* lance* déploie* installe* \
                  approuve* ejecuta* inicia* lanza* instala* aprueba* esegui* avvia* lancia* installa* \
                  approva* execute executar inicie iniciar rode instale aprove voer uitvoer* start \
                  installeer* keur uruchom* wykonaj* zainstaluj* zatwierdź* çalıştır* başlat* onayla* \
                  запусти* выполни* установи* одобри*",
        without_blanks: "运行 执行 启动 安装 批准 実行 起動 承認",
    },
    // To buy.
    Action {
        english: "buy buys buying bought order orders ordering purchas* subscrib*",
        others: "kauf* bestell* abonnier* achète* acheter commande* abonne* compra* comprar pide \
                  pedir suscrib* compra* acquista* ordina* abbona* compre comprar encomende assine \
                  assinar koop kopen bestel* abonneer* kup kupić zamów* zamawiam satın sipariş* abone \
                  купи* закаж* заказать подпи*",
        without_blanks: "购买 订购 订阅 購入 買って 注文",
    },
];

/// English words for things that tools act on; those of a line mean the same.
const THINGS: [&str; 6] = [
    "event events calendar appointment* meeting* reminder* lunch dinner call",
    "webpage* website* web page* site* link* article* url* blog* news",
    "file* document* doc docs folder* note* list*",
    "user* member* colleague* people person everybody him her them",
    "channel* group* room* chat*",
    "info information data detail* profile* address* account*",
];

/// What finds the words of an action in folded texts.
struct Words {
    english: Regex,
    others: Regex,
    all: Regex,
}

static WORDS: LazyLock<[Words; ACTIONS.len()]> = LazyLock::new(|| {
    ACTIONS.each_ref().map(|Action { english, others, without_blanks }| {
        let others = [pattern(others), without_blanks.replace(' ', "|")].join("|");
        let (english, regex) =
            (pattern(english), |text: &str| Regex::new(text).expect("it is a pattern"));
        Words {
            all: regex(&format!("{english}|{others}")),
            english: regex(&english),
            others: regex(&others),
        }
    })
});

static THING_WORDS: LazyLock<[Regex; THINGS.len()]> =
    LazyLock::new(|| THINGS.map(|words| Regex::new(&pattern(words)).expect("it is a pattern")));

/// Returns the pattern of words, those before `*` with all endings.
fn pattern(words: &str) -> String {
    let words = words.split_whitespace().map(|word| match word.strip_suffix('*') {
        Some(begin) => regex::escape(begin),
        None => format!(r"{}\b", regex::escape(word)),
    });
    format!(r"\b(?:{})", words.collect::<Vec<_>>().join("|"))
}

/// What a tool does, as its name says.
pub(crate) struct Actions {
    /// The numbers of its actions.
    actions: Vec<usize>,
    /// The words of its name, and those that say what it acts on.
    words: Vec<String>,
    things: Vec<String>,
    /// Its name.
    name: String,
}

/// How far apart an action and what it is done to may stand, in bytes; and a short value, which stands everywhere.
const NEAR: usize = 160;
const NEAR_SHORT: usize = 32;
/// How far the items of a list are looked for, in bytes.
const NEAR_ITEM: usize = 1024;

impl Actions {
    pub(crate) fn of(tool: &str) -> Self {
        let words: Vec<_> = name_words(tool).collect();
        let is_of = |action: &Words| words.iter().any(|word| action.english.is_match(word));
        let actions: Vec<_> = (0..ACTIONS.len()).filter(|number| is_of(&WORDS[*number])).collect();
        let is_action =
            |word: &String| actions.iter().any(|action| WORDS[*action].english.is_match(word));
        let things =
            words.iter().filter(|word| !is_action(word) && word.len() > 2).cloned().collect();
        Self { actions, words, things, name: tool.to_lowercase() }
    }

    /// Whether a folded text of the user speaks of one of the actions and, in English, of what the tool acts on; or of
    /// the tool.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        if self.actions.is_empty() {
            return words(text).any(|word| self.words.iter().any(|own| own == word));
        }
        let actions = || self.actions.iter().map(|action| &WORDS[*action]);
        self.is_named_in(text)
            || actions().any(|action| action.others.is_match(text))
            || actions().any(|action| action.english.is_match(text)) && self.has_thing(text)
    }

    /// Whether a text has the name of the tool, as a word.
    fn is_named_in(&self, text: &str) -> bool {
        text.match_indices(&self.name).any(|(at, name)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.into_iter().chain(after).any(is_of_word)
        })
    }

    fn has_thing(&self, text: &str) -> bool {
        let is_like = |thing: &String| {
            let mut alike = THING_WORDS.iter().filter(|words| words.is_match(thing));
            text.contains(thing.as_str()) || alike.any(|words| words.is_match(text))
        };
        self.things.is_empty() || self.things.iter().any(is_like)
    }

    /// Whether a folded text speaks of doing it: of an action and, near it, of what else the name of the tool says.
    pub(crate) fn are_asked_in(&self, text: &str) -> bool {
        if self.is_named_in(text) {
            return true;
        }
        self.actions.iter().any(|action| {
            let pattern = &WORDS[*action].all;
            let things: Vec<_> = self.words.iter().filter(|word| !pattern.is_match(word)).collect();
            let mut places = pattern.find_iter(text);
            !things.is_empty()
                && places.any(|place| {
                    let near = near(text, &place.range());
                    things.iter().any(|thing| near.contains(thing.as_str()))
                })
        })
    }

    /// Whether a text speaks of doing it near a value that stands amid it.
    pub(crate) fn are_asked_with(&self, text: &Text, needle: &Needle) -> bool {
        let folded = &text.folded;
        let mut places = needle.places_in(folded).unwrap_or_default().into_iter();
        places.any(|at| {
            matches!(text.place(needle, &at), Place::Amid(_)) && {
                let near = match needle.is_short() {
                    // Of the number of an item, what is right before it counts alone: `delete 13.`.
                    true if is_of_list(folded, &at) => last_word(&folded[..at.start]),
                    true => near_short(folded, &at),
                    false => near(folded, &at),
                };
                self.is_named_in(near)
                    || self.actions.iter().any(|action| WORDS[*action].all.is_match(near))
            }
        })
    }
}

/// Returns what stands near a place.
fn near<'t>(text: &'t str, place: &Range<usize>) -> &'t str {
    around(text, place, NEAR, NEAR)
}

/// Returns what stands near a short value, in its line.
fn near_short<'t>(text: &'t str, place: &Range<usize>) -> &'t str {
    let near = around(text, place, NEAR_SHORT, NEAR_SHORT);
    let at = place.start - (near.as_ptr().addr() - text.as_ptr().addr());
    let start = near[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = near[at..].find('\n').map_or(near.len(), |end| at + end);
    &near[start..end]
}

/// Returns the word at the end of a text, if nothing but a blank is behind it.
fn last_word(text: &str) -> &str {
    let text = text.strip_suffix(' ').unwrap_or(text);
    let before = text.char_indices().rev().take_while(|(_, it)| is_of_word(*it));
    before.last().map_or("", |(start, _)| &text[start..])
}

/// Whether a place is the number of an item in a list: `3` of `2. Bread 3. Milk`.
fn is_of_list(text: &str, place: &Range<usize>) -> bool {
    let ends = text[place.end..].chars().next().filter(|it| matches!(it, '.' | ')'));
    let (Some(end), Ok(number)) = (ends, text[place.clone()].parse::<u32>()) else { return false };
    let stands = |number: u32, text: &str| {
        let item = format!("{number}{end} ");
        let mut items = text.match_indices(&item);
        items.any(|(at, _)| !text[..at].ends_with(|it: char| is_of_word(it) || it == '.'))
    };
    match number {
        0 => false,
        1 => stands(2, around(text, &(place.end..place.end), 0, NEAR_ITEM)),
        _ => stands(number - 1, around(text, &(place.start..place.start), NEAR_ITEM, 0)),
    }
}

fn around<'t>(text: &'t str, place: &Range<usize>, before: usize, after: usize) -> &'t str {
    let start = text.floor_char_boundary(place.start.saturating_sub(before));
    let end = text.ceil_char_boundary((place.end + after).min(text.len()));
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::Actions;
    use crate::provenance::reading::needle::Needle;
    use crate::provenance::reading::text::Text;

    #[test]
    fn a_user_speaks_of_what_a_tool_does() {
        let create = Actions::of("create_calendar_event");
        for text in [
            "schedule lunch with ann",
            "trag den termin ein",
            "ajoute un rendez-vous",
            "安排会议",
            "予定を追加して",
        ] {
            assert!(create.are_in(text), "{text}");
        }
        for text in ["which libraries in rome are good?", "create a channel for the team"] {
            assert!(!create.are_in(text), "{text}");
        }
        assert!(Actions::of("send_money").are_in("bitte überweise die rechnung"));
        assert!(Actions::of("frobnicate_widget").are_in("the widget, please"));
    }

    #[test]
    fn a_text_asks_for_what_a_tool_does() {
        let create = Actions::of("create_calendar_event");
        assert!(create.are_asked_in("please create an event on monday"));
        assert!(create.are_asked_in("use create_calendar_event"));
        let text = Text::new("erstelle einen eintrag: abendessen mit ann".to_owned());
        assert!(create.are_asked_with(&text, &Needle::new("Abendessen", "")));
        assert!(!create.are_asked_with(&text, &Needle::new("Frühstück", "")));
        assert!(!create.are_asked_in("the event was nice. we will come again."));
    }
}
