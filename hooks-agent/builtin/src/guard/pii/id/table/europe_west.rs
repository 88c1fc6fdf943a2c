//! The numbers of Western Europe.

use crate::guard::pii::id::checks::europe_west::{
    at_svnr, be_nrn, ch_ahv, de_steuer_id, fr_nir, ie_pps, nl_bsn, uk_nhs, uk_nino,
};
use crate::guard::pii::id::digits::digits;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The NHS number of the United Kingdom, and the CHI number of Scotland: the digit modulo 11 of
/// the NHS Data Dictionary. The ranges of the countries are not checked.
pub(crate) const UK_NHS: IdForm = IdForm {
    kind: PiiKind::UkNhs,
    layouts: &["999 999 9999", "999-999-9999", "9999999999"],
    check: |text| digits(text).is_some_and(uk_nhs),
    one_of: 11,
    context: &[
        "nhs",
        "nhs number",
        "nhs no",
        "nhs num",
        "chi number",
        "chi no",
        "health and care number",
    ],
};

/// The National Insurance number of the United Kingdom: the letters of the manual of HM Revenue &
/// Customs (NIM39110).
pub(crate) const UK_NINO: IdForm = IdForm {
    kind: PiiKind::UkNino,
    layouts: &[
        "AA 99 99 99 A",
        "AA-99-99-99-A",
        "AA 999999 A",
        "AA999999 A",
        "AA 999999A",
        "AA999999A",
    ],
    check: uk_nino,
    one_of: 11,
    context: &[
        "national insurance",
        "national insurance number",
        "national insurance no",
        "ni number",
        "ni no",
        "n.i. number",
        "nino:",
        "nino number",
    ],
};

/// The personal public service number of Ireland: the letter modulo 23 (Social Welfare
/// Consolidation Act, Department of Social Protection). Of the letters behind it, `W`, `T` and `X`
/// may count nothing, which is the weaker check.
pub(crate) const IE_PPS: IdForm = IdForm {
    kind: PiiKind::IePps,
    layouts: &["9999999A", "9999999AA", "9999999 A", "9999999 AA"],
    check: ie_pps,
    one_of: 26,
    context: &[
        "pps",
        "ppsn",
        "pps number",
        "pps no",
        "pps no.",
        "personal public service",
        "rsi number",
        "uimhir psp",
        "uimhir phearsanta",
    ],
};

/// The tax number of persons in Germany: § 139b Abgabenordnung, and the rules of the
/// Bundeszentralamt für Steuern on the digits and on ISO/IEC 7064 MOD 11,10.
pub(crate) const DE_STEUER_ID: IdForm = IdForm {
    kind: PiiKind::DeSteuerId,
    layouts: &["99 999 999 999", "99999999999", "99-999-999-999"],
    check: |text| digits(text).is_some_and(de_steuer_id),
    one_of: 297,
    context: &[
        "steuer-id",
        "steuer id",
        "steuerid",
        "steuer-idnr",
        "steuer-identnr",
        "steueridentifikationsnummer",
        "steuer-identifikationsnummer",
        "steuerliche identifikationsnummer",
        "identifikationsnummer",
        "idnr",
        "id-nr",
        "tax id",
        "tax identification number",
        "german tax id",
    ],
};

/// The social insurance number of Austria: § 31 ASVG, the weights modulo 11 of the Dachverband der
/// Sozialversicherungsträger. Months up to 15 are accepted, as full days go on beyond 12.
pub(crate) const AT_SVNR: IdForm = IdForm {
    kind: PiiKind::AtSvnr,
    layouts: &["9999 999999", "9999-999999", "9999999999", "9999 99 99 99"],
    check: |text| digits(text).is_some_and(at_svnr),
    one_of: 261,
    context: &[
        "svnr",
        "sv-nr",
        "sv-nummer",
        "svnr.",
        "sozialversicherungsnummer",
        "sozialversicherungsnr",
        "versicherungsnummer",
        "vsnr",
        "austrian social security number",
        "social security number",
    ],
};

/// The social insurance number of Switzerland: EAN-13 with 756 (Zentrale Ausgleichsstelle, article
/// 133 AHVV).
pub(crate) const CH_AHV: IdForm = IdForm {
    kind: PiiKind::ChAhv,
    layouts: &["756.9999.9999.99", "756 9999 9999 99", "756-9999-9999-99", "7569999999999"],
    check: |text| digits(text).is_some_and(ch_ahv),
    one_of: 10,
    context: &[
        "ahv",
        "ahv-nr",
        "ahv-nummer",
        "ahv nr",
        "ahvn13",
        "avs",
        "n° avs",
        "numéro avs",
        "no avs",
        "numero avs",
        "navs",
        "navs13",
        "versichertennummer",
        "sozialversicherungsnummer",
        "swiss social security number",
        "social security number",
    ],
};

/// The citizen service number of the Netherlands: the eleven test (Wet algemene bepalingen
/// burgerservicenummer).
pub(crate) const NL_BSN: IdForm = IdForm {
    kind: PiiKind::NlBsn,
    layouts: &["999999999", "9999.99.999", "9999 99 999", "999.999.999", "999 999 999"],
    check: |text| digits(text).is_some_and(nl_bsn),
    one_of: 11,
    context: &[
        "bsn",
        "bsn-nummer",
        "bsn nummer",
        "burgerservicenummer",
        "burger service nummer",
        "sofi-nummer",
        "sofinummer",
        "persoonsgebonden nummer",
        "citizen service number",
    ],
};

/// The national register number of Belgium, and the bis number: the key modulo 97 (Royal Decree on
/// the composition of the identification number). 20 or 40 is added to the month of a bis number.
/// An unknown month or day is 0.
pub(crate) const BE_NRN: IdForm = IdForm {
    kind: PiiKind::BeNrn,
    layouts: &[
        "99.99.99-999.99",
        "99.99.99-999-99",
        "99 99 99 999 99",
        "999999-999-99",
        "999999-999.99",
        "999999 999 99",
        "99999999999",
    ],
    check: |text| digits(text).is_some_and(be_nrn),
    one_of: 406,
    context: &[
        "rijksregisternummer",
        "rijksregisternr",
        "rijksregister",
        "numéro de registre national",
        "numero de registre national",
        "numéro national",
        "numero national",
        "registre national",
        "niss",
        "insz",
        "nrn",
        "nationalregisternummer",
        "national register number",
        "bis number",
    ],
};

/// The social security number of France, and the waiting one: the key modulo 97 of INSEE (Décret
/// 82-103). The months of unknown dates are accepted, and the communes are not checked.
pub(crate) const FR_NIR: IdForm = IdForm {
    kind: PiiKind::FrNir,
    layouts: &[
        "9 99 99 99 999 999 99",
        "9 99 99 2A 999 999 99",
        "999999999999999",
        "999992A99999999",
        "9 99 99 99 999 999-99",
        "9 99 99 2A 999 999-99",
        "9999999999999 99",
        "999992A999999 99",
    ],
    check: fr_nir,
    one_of: 201,
    context: &[
        "nir",
        "numéro de sécurité sociale",
        "numero de securite sociale",
        "sécurité sociale",
        "securite sociale",
        "n° sécurité sociale",
        "n° de sécurité sociale",
        "numéro de sécu",
        "n° sécu",
        "numéro insee",
        "numéro d'inscription au répertoire",
        "nss",
        "french social security number",
    ],
};
