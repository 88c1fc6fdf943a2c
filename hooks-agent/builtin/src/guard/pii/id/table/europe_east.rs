//! The numbers of Eastern Europe.

use crate::guard::pii::id::checks::europe_east::{
    bg_egn, cz_rodne_cislo, cz_rodne_cislo_old, hr_oib, hu_taj, hu_tax_id, pl_pesel, ro_cnp,
    si_emso,
};
use crate::guard::pii::id::digits::digits;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The PESEL number of Poland: the weights of the Ustawa o ewidencji ludności. The month tells the
/// century; those after 2100 are refused.
pub(crate) const PL_PESEL: IdForm = IdForm {
    kind: PiiKind::PlPesel,
    layouts: &["99999999999"],
    check: |text| digits(text).is_some_and(pl_pesel),
    one_of: 91,
    context: &["pesel", "nr pesel", "numer pesel", "pesel:"],
};

/// The personal numeric code of Romania: the weights of the Ordonanța 97. The county is not
/// checked.
pub(crate) const RO_CNP: IdForm = IdForm {
    kind: PiiKind::RoCnp,
    layouts: &["9999999999999", "9 999999 999999"],
    check: |text| digits(text).is_some_and(ro_cnp),
    one_of: 304,
    context: &[
        "cnp",
        "c.n.p.",
        "cod numeric personal",
        "codul numeric personal",
        "personal numeric code",
    ],
};

/// The uniform civil number of Bulgaria: the weights of the GRAO (Закон за гражданската
/// регистрация). The month tells the century.
pub(crate) const BG_EGN: IdForm = IdForm {
    kind: PiiKind::BgEgn,
    layouts: &["9999999999"],
    check: |text| digits(text).is_some_and(bg_egn),
    one_of: 91,
    context: &[
        "егн",
        "е.г.н.",
        "egn",
        "единен граждански номер",
        "uniform civil number",
        "bulgarian id",
    ],
};

/// The birth number of the Czech Republic and Slovakia: a multiple of 11 (Zákon 133, Zákon 301).
/// The month of a woman is 50 higher, and 20 is added on full days.
pub(crate) const CZ_RODNE_CISLO: IdForm = IdForm {
    kind: PiiKind::CzRodneCislo,
    layouts: &["999999/9999", "999999-9999", "9999999999", "999999 9999"],
    check: |text| digits(text).is_some_and(cz_rodne_cislo),
    one_of: 90,
    context: &[
        "rodné číslo",
        "rodne cislo",
        "rodného čísla",
        "rodným číslem",
        "rč",
        "r.č.",
        "r. č.",
        "rč:",
        "birth number",
    ],
};

/// The older birth number of the Czech Republic and Slovakia, of nine digits, which has no check
/// digit.
pub(crate) const CZ_RODNE_CISLO_OLD: IdForm = IdForm {
    kind: PiiKind::CzRodneCislo,
    layouts: &["999999/999"],
    check: |text| digits(text).is_some_and(cz_rodne_cislo_old),
    one_of: 25,
    context: &[
        "rodné číslo",
        "rodne cislo",
        "rodného čísla",
        "rodným číslem",
        "rč",
        "r.č.",
        "r. č.",
        "rč:",
        "birth number",
    ],
};

/// The social security number of Hungary: the weights 3 and 7 (Act XX on identification codes).
pub(crate) const HU_TAJ: IdForm = IdForm {
    kind: PiiKind::HuTaj,
    layouts: &["999 999 999", "999-999-999", "999999999"],
    check: |text| digits(text).is_some_and(hu_taj),
    one_of: 10,
    context: &[
        "taj szám",
        "taj-szám",
        "taj szam",
        "tajszám",
        "társadalombiztosítási azonosító",
        "tarsadalombiztositasi azonosito",
        "hungarian social security number",
        "taj:",
    ],
};

/// The tax number of persons in Hungary: the digit modulo 11 (Act XX on identification codes). The
/// day of birth inside is not checked.
pub(crate) const HU_TAX_ID: IdForm = IdForm {
    kind: PiiKind::HuTaxId,
    layouts: &["9999999999"],
    check: |text| digits(text).is_some_and(hu_tax_id),
    one_of: 110,
    context: &[
        "adóazonosító",
        "adóazonosító jel",
        "adoazonosito",
        "adoazonosito jel",
        "adóazonosító jele",
        "hungarian tax id",
        "tax identification number",
    ],
};

/// The personal number of Croatia: ISO/IEC 7064 MOD 11,10 (Zakon o osobnom identifikacijskom
/// broju).
pub(crate) const HR_OIB: IdForm = IdForm {
    kind: PiiKind::HrOib,
    layouts: &["99999999999"],
    check: |text| digits(text).is_some_and(hr_oib),
    one_of: 10,
    context: &["oib", "o.i.b.", "osobni identifikacijski broj", "croatian personal number"],
};

/// The personal number of Slovenia, and of the other parts of Yugoslavia: a date and the digit
/// modulo 11 (Zakon o centralnem registru prebivalstva). The region is not checked.
pub(crate) const SI_EMSO: IdForm = IdForm {
    kind: PiiKind::SiEmso,
    layouts: &["9999999999999"],
    check: |text| digits(text).is_some_and(si_emso),
    one_of: 910,
    context: &[
        "emšo",
        "emso",
        "enotna matična številka občana",
        "enotna maticna stevilka obcana",
        "jmbg",
        "јмбг",
        "matični broj",
        "jedinstveni matični broj",
    ],
};
