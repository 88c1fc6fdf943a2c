//! The numbers of the VAT of the European Union, in the rest of Europe.

use crate::guard::pii::id::checks::europe_south::pt_nif;
use crate::guard::pii::id::checks::vat::{behind, vat_dk, vat_es, vat_fi, vat_it, vat_pl, vat_se};
use crate::guard::pii::id::digits::digits;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The VAT number of Denmark, which is the CVR number: the weights modulo 11 of Erhvervsstyrelsen.
pub(crate) const EU_VAT_DK: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["DK99999999", "DK 99999999", "DK 99 99 99 99", "DK-99999999"],
    check: |text| behind(b"DK", text, vat_dk),
    one_of: 12,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "cvr",
        "cvr-nr",
        "cvr-nummer",
        "momsnr",
        "momsnummer",
        "se-nr",
    ],
};

/// The VAT number of Spain: a company (Orden EHA/451), a DNI or a NIE. Where the kind of a company
/// asks for a digit or a letter, both are accepted.
pub(crate) const EU_VAT_ES: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["ES*9999999*", "ES *9999999*", "ES-*9999999*", "ES*-9999999-*", "ES*-9999999*"],
    check: vat_es,
    one_of: 24,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "nif",
        "cif",
        "nif-iva",
        "nif iva",
        "número de iva",
        "numero de iva",
        "n.i.f.",
        "c.i.f.",
    ],
};

/// The VAT number of Finland: the weights modulo 11 of the business id (Patentti- ja
/// rekisterihallitus).
pub(crate) const EU_VAT_FI: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["FI99999999", "FI 99999999", "FI-99999999"],
    check: |text| behind(b"FI", text, vat_fi),
    one_of: 11,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "alv",
        "alv-numero",
        "alv-tunniste",
        "alv-nro",
        "arvonlisäverotunniste",
        "y-tunnus",
        "momsnummer",
    ],
};

/// The VAT number of Italy: the office of the province and Luhn (Agenzia delle Entrate).
pub(crate) const EU_VAT_IT: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["IT99999999999", "IT 99999999999", "IT-99999999999"],
    check: |text| behind(b"IT", text, vat_it),
    one_of: 94,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "partita iva",
        "p.iva",
        "p. iva",
        "piva",
        "part. iva",
        "p.iva/c.f.",
        "mwst-nr",
        "mwst-nummer",
    ],
};

/// The VAT number of Italy as it is written there, without the prefix.
pub(crate) const EU_VAT_IT_OWN: IdForm = IdForm {
    layouts: &["99999999999"],
    check: |text| digits(text).is_some_and(vat_it),
    ..EU_VAT_IT
};

/// The VAT number of Poland: the weights modulo 11 of the NIP (Ustawa o zasadach ewidencji
/// podatników).
pub(crate) const EU_VAT_PL: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &[
        "PL9999999999",
        "PL 9999999999",
        "PL 999-999-99-99",
        "PL999-999-99-99",
        "PL 999 999 99 99",
        "PL 999-99-99-999",
    ],
    check: |text| behind(b"PL", text, vat_pl),
    one_of: 11,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "nip ue",
        "nr nip",
        "numer nip",
        "nip:",
    ],
};

/// The VAT number of Portugal, which is the NIF.
pub(crate) const EU_VAT_PT: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &["PT999999999", "PT 999999999", "PT 999 999 999", "PT-999999999"],
    check: |text| behind(b"PT", text, pt_nif),
    one_of: 12,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "nif",
        "nipc",
        "contribuinte",
        "número de contribuinte",
        "numero de contribuinte",
        "iva",
    ],
};

/// The VAT number of Sweden: Luhn of the organisation or the person, then the number of the
/// registration (Skatteverket).
pub(crate) const EU_VAT_SE: IdForm = IdForm {
    kind: PiiKind::EuVat,
    layouts: &[
        "SE999999999999",
        "SE 999999999999",
        "SE 999999-999999",
        "SE999999-999901",
        "SE 999999-9999-01",
        "SE 999999 9999 01",
    ],
    check: |text| behind(b"SE", text, vat_se),
    one_of: 10,
    context: &[
        "vat",
        "vat number",
        "vat no",
        "vat id",
        "vat reg",
        "vat registration number",
        "momsnr",
        "moms-nr",
        "momsregistreringsnummer",
        "momsreg.nr",
        "vat-nummer",
        "vat-nr",
    ],
};
