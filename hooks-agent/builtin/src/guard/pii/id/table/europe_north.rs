//! The numbers of Northern Europe.

use crate::guard::pii::id::checks::europe_north::{
    dk_cpr, ee_lt_personal_code, fi_henkilotunnus, no_fodselsnummer, se_personnummer,
};
use crate::guard::pii::id::digits::digits;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The personal number of Sweden: a date and Luhn (Skatteverket, SKV 704). The day of a
/// coordination number is 60 higher.
pub(crate) const SE_PERSONNUMMER: IdForm = IdForm {
    kind: PiiKind::SePersonnummer,
    layouts: &[
        "999999-9999",
        "999999+9999",
        "99999999-9999",
        "99999999+9999",
        "9999999999",
        "999999999999",
    ],
    check: se_personnummer,
    one_of: 137,
    context: &[
        "personnummer",
        "personnr",
        "pers.nr",
        "persnr",
        "samordningsnummer",
        "swedish personal number",
        "personal identity number",
    ],
};

/// The birth number of Norway: a date and two digits modulo 11 (Skatteetaten,
/// Folkeregisterforskriften). 40 is added to the day in a D number, and to the month in a number
/// of a hospital. The range of the century is not checked.
pub(crate) const NO_FODSELSNUMMER: IdForm = IdForm {
    kind: PiiKind::NoFodselsnummer,
    layouts: &["99999999999", "999999 99999", "999999-99999"],
    check: |text| digits(text).is_some_and(no_fodselsnummer),
    one_of: 820,
    context: &[
        "fødselsnummer",
        "fodselsnummer",
        "fødselsnr",
        "fodselsnr",
        "fnr",
        "f.nr",
        "personnummer",
        "d-nummer",
        "d-nr",
        "norwegian id",
        "national identity number",
    ],
};

/// The personal identity code of Finland: a date and a character modulo 31 (Digital and Population
/// Data Services Agency, <https://dvv.fi/en/personal-identity-code>).
pub(crate) const FI_HENKILOTUNNUS: IdForm = IdForm {
    kind: PiiKind::FiHenkilotunnus,
    layouts: &["999999-999*", "999999+999*", "999999A999*"],
    check: fi_henkilotunnus,
    one_of: 990,
    context: &[
        "henkilötunnus",
        "henkilotunnus",
        "hetu",
        "henkilötunnuksesi",
        "personbeteckning",
        "finnish personal identity code",
        "personal identity code",
    ],
};

/// The personal number of Denmark: the CPR office no longer guarantees the digit modulo 11, so the
/// date alone is checked. The day of a replacement number is 60 higher.
pub(crate) const DK_CPR: IdForm = IdForm {
    kind: PiiKind::DkCpr,
    layouts: &["999999-9999", "999999 9999", "9999999999"],
    check: |text| digits(text).is_some_and(dk_cpr),
    one_of: 13,
    context: &[
        "cpr",
        "cpr-nummer",
        "cpr nummer",
        "cpr-nr",
        "cpr nr",
        "cprnr",
        "cpr.nr",
        "personnummer",
        "danish id",
    ],
};

/// The personal codes of Estonia (EVS 585) and Lithuania (Law on the Population Register). The
/// codes of Lithuania with the first digit 9 have no date and are not taken.
pub(crate) const EE_LT_PERSONAL_CODE: IdForm = IdForm {
    kind: PiiKind::EeLtPersonalCode,
    layouts: &["99999999999"],
    check: |text| digits(text).is_some_and(ee_lt_personal_code),
    one_of: 455,
    context: &[
        "isikukood",
        "isikukoodi",
        "asmens kodas",
        "asmens kodą",
        "a.k.",
        "personal code",
        "personal identification code",
        "estonian id",
        "lithuanian id",
    ],
};
