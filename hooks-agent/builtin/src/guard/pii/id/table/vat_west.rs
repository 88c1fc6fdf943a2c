//! The numbers of the VAT of the European Union, in Western Europe.

use crate::guard::pii::id::checks::vat::{
    behind, vat_at, vat_be, vat_de, vat_fr, vat_ie, vat_lu, vat_nl,
};
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The VAT number of Austria: the algorithm of the Bundesministerium für Finanzen. The prefix is
/// `ATU`.
pub(crate) const EU_VAT_AT: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["ATU99999999", "ATU 99999999", "AT U99999999"],
    check: |text| behind(b"ATU", text, vat_at),
    one_of: 267,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "uid-nr",
        "uid-nummer",
        "ust-id",
        "ust-idnr",
        "umsatzsteuer-identifikationsnummer",
    ],
};

/// The VAT number of Belgium: the key modulo 97 of the Crossroads Bank for Enterprises.
pub(crate) const EU_VAT_BE: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &[
        "BE9999999999",
        "BE 9999999999",
        "BE 9999.999.999",
        "BE9999.999.999",
        "BE 9999 999 999",
        "BE-9999.999.999",
    ],
    check: |text| behind(b"BE", text, vat_be),
    one_of: 498,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "btw-nummer",
        "btw nr",
        "tva",
        "numéro de tva",
        "n° tva",
        "ondernemingsnummer",
        "numéro d'entreprise",
        "btw:",
    ],
};

/// The VAT number of Germany: ISO/IEC 7064 MOD 11,10 (§ 27a Umsatzsteuergesetz).
pub(crate) const EU_VAT_DE: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &[
        "DE999999999",
        "DE 999999999",
        "DE 999 999 999",
        "DE-999999999",
        "DE-999-999-999",
        "DE.999.999.999",
    ],
    check: |text| behind(b"DE", text, vat_de),
    one_of: 11,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "ust-id",
        "ust-idnr",
        "ust-id-nr",
        "ust.-id",
        "ust-idnr.",
        "ustid",
        "ustidnr",
        "umsatzsteuer-id",
        "umsatzsteuer-identifikationsnummer",
        "umsatzsteueridentifikationsnummer",
    ],
};

/// The VAT number of France and Monaco: a key modulo 97 and Luhn (article 286 ter Code général des
/// impôts).
pub(crate) const EU_VAT_FR: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &[
        "FR99999999999",
        "FR 99999999999",
        "FR 99 999999999",
        "FR 99 999 999 999",
        "FR99 999 999 999",
    ],
    check: vat_fr,
    one_of: 980,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "tva",
        "tva intracommunautaire",
        "n° tva",
        "n° de tva",
        "numéro de tva",
        "numero de tva",
        "num tva",
    ],
};

/// The VAT number of France whose key has letters: a key modulo 11 and Luhn (as VIES describes
/// it).
pub(crate) const EU_VAT_FR_LETTERS: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["FR**999999999", "FR **999999999", "FR ** 999999999", "FR ** 999 999 999"],
    check: vat_fr,
    one_of: 132,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "tva",
        "tva intracommunautaire",
        "n° tva",
        "n° de tva",
        "numéro de tva",
        "numero de tva",
        "num tva",
    ],
};

/// The VAT number of Ireland: the letter modulo 23 of the Revenue Commissioners. The older form
/// with `+` or `*` is not taken.
pub(crate) const EU_VAT_IE: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &[
        "IE9999999A",
        "IE 9999999A",
        "IE9999999AA",
        "IE 9999999AA",
        "IE9A99999A",
        "IE 9A99999A",
    ],
    check: vat_ie,
    one_of: 25,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "cbl",
        "uimhir chláraithe cbl",
    ],
};

/// The VAT number of Luxembourg: the key modulo 89 of the Administration de l'enregistrement.
pub(crate) const EU_VAT_LU: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["LU99999999", "LU 99999999", "LU 999 999 99"],
    check: |text| behind(b"LU", text, vat_lu),
    one_of: 99,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "tva",
        "n° tva",
        "numéro de tva",
        "id. tva",
        "mwst-nr",
        "ust-idnr",
    ],
};

/// The VAT number of the Netherlands: the eleven test of a company, or MOD 97 of a person
/// (Belastingdienst).
pub(crate) const EU_VAT_NL: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &[
        "NL999999999B99",
        "NL 999999999B99",
        "NL 999999999 B99",
        "NL 999999999 B 99",
        "NL 9999.99.999.B99",
        "NL9999.99.999.B99",
        "NL999999999.B.99",
    ],
    check: vat_nl,
    one_of: 10,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "btw-nummer",
        "btw-nr",
        "btw nr",
        "btw-id",
        "btw-identificatienummer",
        "omzetbelastingnummer",
        "btw:",
    ],
};
