//! The numbers of Asia, Australia and Africa.

use crate::guard::pii::id::checks::asia::{
    au_medicare, au_tfn, au_tfn_old, cn_resident_id, has_gstin_form, il_id, in_aadhaar, in_gstin,
    in_pan, jp_my_number, kr_rrn, sg_nric, tr_kimlik, za_id,
};
use crate::guard::pii::id::digits::digits;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The Aadhaar number of India: the digit of Verhoeff, and no number begins with 0 or 1 (Unique
/// Identification Authority of India).
pub(crate) const IN_AADHAAR: IdForm = IdForm {
    kind: PiiKind::InAadhaar,
    layouts: &["9999 9999 9999", "9999-9999-9999", "999999999999"],
    check: |text| digits(text).is_some_and(in_aadhaar),
    one_of: 12,
    context: &[
        "aadhaar",
        "aadhar",
        "adhaar",
        "aadhaar number",
        "uidai",
        "आधार",
        "आधार संख्या",
        "आधार नंबर",
    ],
};

/// The permanent account number of India: the fourth letter is the kind of holder (Income Tax
/// Department). The algorithm of its last letter is not public. `E` and `K` are accepted as well,
/// which is the weaker check.
pub(crate) const IN_PAN: IdForm = IdForm {
    kind: PiiKind::InPan,
    layouts: &["AAAAA9999A"],
    check: in_pan,
    one_of: 2,
    context: &[
        "pan number",
        "pan no",
        "pan card",
        "pan:",
        "permanent account number",
        "income tax pan",
        "पैन",
        "स्थायी खाता संख्या",
    ],
};

/// The goods and services tax number of India: a PAN inside, and a check character of base 36
/// (Goods and Services Tax Network). Any letter is accepted before the last one, not only `Z`.
pub(crate) const IN_GSTIN: IdForm = IdForm {
    kind: PiiKind::InGstin,
    layouts: &["99AAAAA9999A*A*"],
    check: in_gstin,
    one_of: 198,
    context: &[
        "gstin",
        "gst no",
        "gst number",
        "gst in",
        "gst:",
        "gst identification number",
        "gst registration",
        "जीएसटी",
    ],
};

/// The same with any check character, behind a word.
pub(crate) const IN_GSTIN_NAMED: IdForm = IdForm { check: has_gstin_form, one_of: 0, ..IN_GSTIN };

/// The resident number of China: GB 11643, with ISO/IEC 7064 MOD 11-2. The divisions below the
/// province are not checked. Cards of foreign residents begin with 9.
pub(crate) const CN_RESIDENT_ID: IdForm = IdForm {
    kind: PiiKind::CnResidentId,
    layouts: &[
        "999999999999999999",
        "99999999999999999A",
        "999999 99999999 9999",
        "999999 99999999 999A",
    ],
    check: cn_resident_id,
    one_of: 21_000,
    context: &[
        "身份证",
        "身份證",
        "身份证号",
        "身份证号码",
        "居民身份证",
        "公民身份号码",
        "身分證",
        "证件号码",
        "resident identity",
        "resident id",
        "chinese id",
        "id card number",
    ],
};

/// The individual number of Japan: the ministerial order on the Individual Number (総務省令第85号),
/// article 5.
pub(crate) const JP_MY_NUMBER: IdForm = IdForm {
    kind: PiiKind::JpMyNumber,
    layouts: &["9999 9999 9999", "9999-9999-9999", "999999999999"],
    check: |text| digits(text).is_some_and(jp_my_number),
    one_of: 10,
    context: &[
        "マイナンバー",
        "個人番号",
        "mynumber",
        "individual number",
        "kojin bango",
        "my number card",
    ],
};

/// The resident registration number of Korea: the Enforcement Rule of the Resident Registration
/// Act. Newer ones have no check digit, so the date alone is checked; every digit behind it is a
/// sex.
pub(crate) const KR_RRN: IdForm = IdForm {
    kind: PiiKind::KrRrn,
    layouts: &["999999-9999999", "999999 9999999", "9999999999999"],
    check: |text| digits(text).is_some_and(kr_rrn),
    one_of: 27,
    context: &[
        "주민등록번호",
        "주민번호",
        "외국인등록번호",
        "resident registration number",
        "resident registration",
        "rrn",
        "alien registration number",
    ],
};

/// The identity numbers of Singapore, with the prefixes `S`, `T`, `F`, `G` and `M` (National
/// Registration Act, Immigration & Checkpoints Authority). The authority does not publish the
/// check letters.
pub(crate) const SG_NRIC: IdForm = IdForm {
    kind: PiiKind::SgNric,
    layouts: &["A9999999A"],
    check: sg_nric,
    one_of: 137,
    context: &[
        "nric",
        "nric no",
        "nric/fin",
        "fin no",
        "fin number",
        "foreign identification number",
        "national registration identity card",
        "identity card no",
        "身份证",
        "kad pengenalan",
    ],
};

/// The identity number of Israel: Luhn (Population and Immigration Authority).
pub(crate) const IL_ID: IdForm = IdForm {
    kind: PiiKind::IlId,
    layouts: &["999999999", "99999999-9", "9-9999999-9", "9 9999999 9"],
    check: |text| digits(text).is_some_and(il_id),
    one_of: 10,
    context: &[
        "תעודת זהות",
        "מספר זהות",
        "ת.ז.",
        "ת\"ז",
        "ת״ז",
        "תז",
        "teudat zehut",
        "israeli id",
        "israel id",
        "t.z.",
    ],
};

/// The identity number of Turkey: two check digits of the General Directorate of Population and
/// Citizenship Affairs (Law 5490).
pub(crate) const TR_KIMLIK: IdForm = IdForm {
    kind: PiiKind::TrKimlik,
    layouts: &["99999999999", "999 999 999 99"],
    check: |text| digits(text).is_some_and(tr_kimlik),
    one_of: 110,
    context: &[
        "t.c. kimlik",
        "tc kimlik",
        "tc kimlik no",
        "t.c. kimlik no",
        "tckn",
        "kimlik no",
        "kimlik numarası",
        "kimlik numarasi",
        "turkish id",
        "turkish identity number",
    ],
};

/// The tax file number of Australia: the weights modulo 11 of the Australian Taxation Office.
pub(crate) const AU_TFN: IdForm = IdForm {
    kind: PiiKind::AuTfn,
    layouts: &["999 999 999", "999-999-999", "999999999"],
    check: |text| digits(text).is_some_and(au_tfn),
    one_of: 10,
    context: &["tfn", "tax file number", "tax file no", "tax file"],
};

/// The older tax file number of Australia, of eight digits: as above, with its own weights.
pub(crate) const AU_TFN_OLD: IdForm = IdForm {
    kind: PiiKind::AuTfn,
    layouts: &["99 999 999", "99999999"],
    check: |text| digits(text).is_some_and(au_tfn_old),
    one_of: 11,
    context: &["tfn", "tax file number", "tax file no", "tax file"],
};

/// The Medicare number of Australia: the card number, then the issue, and often the person
/// (Services Australia, national Metadata Online Registry).
pub(crate) const AU_MEDICARE: IdForm = IdForm {
    kind: PiiKind::AuMedicare,
    layouts: &[
        "9999 99999 9",
        "9999-99999-9",
        "9999 99999 9 9",
        "9999 99999 9/9",
        "9999 99999 9-9",
        "9999-99999-9-9",
        "9999999999",
        "9999999999/9",
        "9999999999-9",
        "99999999999",
    ],
    check: au_medicare,
    one_of: 22,
    context: &[
        "medicare",
        "medicare number",
        "medicare no",
        "medicare card",
        "medicare card number",
    ],
};

/// The identity number of South Africa: a date, the citizenship and Luhn (Identification Act 68,
/// Department of Home Affairs).
pub(crate) const ZA_ID: IdForm = IdForm {
    kind: PiiKind::ZaId,
    layouts: &["9999999999999", "999999 9999 999", "999999 9999 99 9", "999999 9999 9 99"],
    check: |text| digits(text).is_some_and(za_id),
    one_of: 900,
    context: &[
        "sa id",
        "south african id",
        "rsa id",
        "id number",
        "id no",
        "identity number",
        "identiteitsnommer",
        "id-nommer",
    ],
};
