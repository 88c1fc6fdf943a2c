//! The numbers of Southern Europe.

use crate::guard::pii::id::checks::europe_south::{
    es_dni, es_nie, gr_amka, it_codice_fiscale, pt_nif,
};
use crate::guard::pii::id::digits::digits;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The identity number of Spain: the letter modulo 23 (Real Decreto 1553, Ministerio del
/// Interior).
pub(crate) const ES_DNI: IdForm = IdForm {
    kind: PiiKind::EsDni,
    layouts: &[
        "99999999A",
        "99999999-A",
        "99999999 A",
        "99.999.999-A",
        "99.999.999 A",
        "99.999.999A",
        "9999999A",
        "9999999-A",
    ],
    check: es_dni,
    one_of: 25,
    context: &[
        "dni",
        "d.n.i.",
        "nif",
        "n.i.f.",
        "documento nacional de identidad",
        "número de dni",
        "número de identificación fiscal",
        "numero de identificacion fiscal",
    ],
};

/// The number of foreigners in Spain: as the DNI, where `X`, `Y` and `Z` count 0, 1 and 2 (Orden
/// INT/2058).
pub(crate) const ES_NIE: IdForm = IdForm {
    kind: PiiKind::EsNie,
    layouts: &[
        "A9999999A",
        "A-9999999-A",
        "A9999999-A",
        "A-9999999A",
        "A 9999999 A",
        "A-9.999.999-A",
    ],
    check: es_nie,
    one_of: 225,
    context: &[
        "n.i.e.",
        "nif",
        "n.i.f.",
        "número de identidad de extranjero",
        "numero de identidad de extranjero",
        "identidad de extranjero",
        "nie:",
        "nie nº",
        "nie n°",
        "número nie",
    ],
};

/// The tax code of Italy: the Decreto Ministeriale on the codice fiscale (Agenzia delle Entrate),
/// with the letters in place of digits. The letters of the names are not checked.
pub(crate) const IT_CODICE_FISCALE: IdForm = IdForm {
    kind: PiiKind::ItCodiceFiscale,
    layouts: &["AAAAAA**A**A***A", "AAA AAA **A** A***A", "AAA-AAA-**A**-A***A"],
    check: it_codice_fiscale,
    one_of: 5_600,
    context: &[
        "codice fiscale",
        "cod. fiscale",
        "cod. fisc.",
        "cod.fisc.",
        "codicefiscale",
        "steuernummer",
        "italian tax code",
        "fiscal code",
    ],
};

/// The tax number of Portugal: the digit modulo 11 (Decreto-Lei 14, Autoridade Tributária). Of the
/// first digits, only those that were never issued are refused.
pub(crate) const PT_NIF: IdForm = IdForm {
    kind: PiiKind::PtNif,
    layouts: &["999999999", "999 999 999", "999.999.999"],
    check: |text| digits(text).is_some_and(pt_nif),
    one_of: 12,
    context: &[
        "nif",
        "n.i.f.",
        "nipc",
        "número de contribuinte",
        "numero de contribuinte",
        "contribuinte",
        "contribuinte n.º",
        "número de identificação fiscal",
        "numero de identificacao fiscal",
    ],
};

/// The social security number of Greece: a date and Luhn (Law 3655, IDIKA).
pub(crate) const GR_AMKA: IdForm = IdForm {
    kind: PiiKind::GrAmka,
    layouts: &["99999999999", "999999 99999", "999999-99999"],
    check: |text| digits(text).is_some_and(gr_amka),
    one_of: 270,
    context: &[
        "αμκα",
        "α.μ.κ.α.",
        "amka",
        "a.m.k.a.",
        "αριθμός μητρώου κοινωνικής ασφάλισης",
        "greek social security number",
    ],
};
