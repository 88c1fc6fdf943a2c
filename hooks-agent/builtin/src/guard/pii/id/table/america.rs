//! The numbers of America.

use crate::guard::pii::id::checks::america::{
    ar_cuit, br_cnpj, br_cpf, ca_sin, cl_rut, co_nit, mx_curp, us_aba, us_dea, us_itin, us_npi,
    us_ssn,
};
use crate::guard::pii::id::digits::digits;
use crate::guard::pii::id::form::IdForm;
use crate::guard::pii::kind::PiiKind;

/// The social security number of the United States: the ranges of the Social Security
/// Administration (<https://www.ssa.gov/employer/randomization.html>). It has no check digit.
/// Repeated digits are refused as placeholders.
pub(crate) const US_SSN: IdForm = IdForm {
    kind: PiiKind::UsSsn,
    layouts: &["999-99-9999", "999 99 9999", "999.99.9999", "999999999"],
    check: |text| digits(text).is_some_and(us_ssn),
    one_of: 1,
    context: &[
        "ssn",
        "ss#",
        "social security",
        "social security number",
        "social security no",
        "seguro social",
        "número de seguro social",
        "numero de seguro social",
    ],
};

/// The individual taxpayer number of the United States: the ranges of the Internal Revenue Service
/// (Internal Revenue Manual 3.21.263). It has no check digit.
pub(crate) const US_ITIN: IdForm = IdForm {
    kind: PiiKind::UsItin,
    layouts: &["999-99-9999", "999 99 9999", "999999999"],
    check: |text| digits(text).is_some_and(us_itin),
    one_of: 22,
    context: &[
        "itin",
        "individual taxpayer identification number",
        "individual taxpayer id",
        "taxpayer identification number",
        "taxpayer id",
    ],
};

/// The routing number of banks of the United States: the ranges and check digit of the American
/// Bankers Association (Routing Number Policy).
pub(crate) const US_ABA: IdForm = IdForm {
    kind: PiiKind::UsAba,
    layouts: &["999999999", "9999-9999-9"],
    check: |text| digits(text).is_some_and(us_aba),
    one_of: 26,
    context: &[
        "aba number",
        "aba routing",
        "routing number",
        "routing no",
        "routing transit number",
        "routing code",
        "rtn",
    ],
};

/// The provider number of the United States: the Luhn digit with the prefix 80840 (45 CFR 162.406
/// and the check digit document of the Centers for Medicare & Medicaid Services).
pub(crate) const US_NPI: IdForm = IdForm {
    kind: PiiKind::UsNpi,
    layouts: &["9999999999", "9999-999-999", "9999 999 999"],
    check: |text| digits(text).is_some_and(us_npi),
    one_of: 50,
    context: &["npi", "npi number", "national provider identifier", "provider identifier"],
};

/// The registration number of the Drug Enforcement Administration of the United States (21 CFR
/// 1301). Any letter is accepted as the first one, which is the weaker check.
pub(crate) const US_DEA: IdForm = IdForm {
    kind: PiiKind::UsDea,
    layouts: &["AA9999999", "A99999999", "AA 9999999", "AA-9999999"],
    check: us_dea,
    one_of: 10,
    context: &["dea number", "dea no", "dea registration", "dea registration number"],
};

/// The social insurance number of Canada: Luhn, and no number begins with 0 or 8 (Employment and
/// Social Development Canada).
pub(crate) const CA_SIN: IdForm = IdForm {
    kind: PiiKind::CaSin,
    layouts: &["999 999 999", "999-999-999", "999999999"],
    check: |text| digits(text).is_some_and(ca_sin),
    one_of: 12,
    context: &[
        "social insurance number",
        "social insurance no",
        "social insurance",
        "sin number",
        "sin #",
        "numéro d'assurance sociale",
        "numero d'assurance sociale",
        "assurance sociale",
        "n.a.s.",
    ],
};

/// The population key of Mexico: the normative instructions of RENAPO, published in the Diario
/// Oficial de la Federación.
pub(crate) const MX_CURP: IdForm = IdForm {
    kind: PiiKind::MxCurp,
    layouts: &["AAAA999999AAAAAA*9"],
    check: mx_curp,
    one_of: 97_000,
    context: &[
        "curp",
        "clave única de registro de población",
        "clave unica de registro de poblacion",
        "registro de población",
    ],
};

/// The taxpayer number of persons in Brazil: two digits modulo 11 of the Receita Federal.
pub(crate) const BR_CPF: IdForm = IdForm {
    kind: PiiKind::BrCpf,
    layouts: &["999.999.999-99", "999999999-99", "999 999 999 99", "99999999999"],
    check: |text| digits(text).is_some_and(br_cpf),
    one_of: 99,
    context: &[
        "cpf",
        "c.p.f.",
        "cpf/mf",
        "cadastro de pessoas físicas",
        "cadastro de pessoas fisicas",
        "cadastro de pessoa física",
    ],
};

/// The taxpayer number of companies in Brazil: two digits modulo 11 of the Receita Federal, and
/// the letters of the Instrução Normativa RFB 2.229.
pub(crate) const BR_CNPJ: IdForm = IdForm {
    kind: PiiKind::BrCnpj,
    layouts: &[
        "99.999.999/9999-99",
        "99999999/9999-99",
        "99999999999999",
        "**.***.***/****-99",
        "************99",
    ],
    check: br_cnpj,
    one_of: 99,
    context: &[
        "cnpj",
        "c.n.p.j.",
        "cnpj/mf",
        "cadastro nacional da pessoa jurídica",
        "cadastro nacional da pessoa juridica",
    ],
};

/// The tax and labour number of Argentina: the digit modulo 11 of ARCA (before it, AFIP). A digit
/// 10 is written 9, which is the weaker check.
pub(crate) const AR_CUIT: IdForm = IdForm {
    kind: PiiKind::ArCuit,
    layouts: &["99-99999999-9", "99 99999999 9", "99.99999999.9", "99-99.999.999-9", "99999999999"],
    check: |text| digits(text).is_some_and(ar_cuit),
    one_of: 82,
    context: &[
        "cuit",
        "cuil",
        "c.u.i.t.",
        "c.u.i.l.",
        "cuit/cuil",
        "clave única de identificación tributaria",
        "clave unica de identificacion tributaria",
        "código único de identificación laboral",
    ],
};

/// The national number of Chile: the digit modulo 11 of the Registro Civil and the Servicio de
/// Impuestos Internos. Only those of seven and eight digits before the check digit are taken.
pub(crate) const CL_RUT: IdForm = IdForm {
    kind: PiiKind::ClRut,
    layouts: &[
        "99.999.999-9",
        "99.999.999-A",
        "9.999.999-9",
        "9.999.999-A",
        "99999999-9",
        "99999999-A",
        "9999999-9",
        "9999999-A",
        "999999999",
        "99999999A",
    ],
    check: cl_rut,
    one_of: 11,
    context: &[
        "r.u.t.",
        "r.u.n.",
        "rol único tributario",
        "rol unico tributario",
        "rol único nacional",
        "rol unico nacional",
        "cédula de identidad",
        "cedula de identidad",
        "rut:",
        "rut n°",
        "rut nº",
        "rut no",
    ],
};

/// The tax number of Colombia: the digit modulo 11 of the DIAN (Orden Administrativa 4), with its
/// weights of primes. A number of ten digits is the identity card of a person.
pub(crate) const CO_NIT: IdForm = IdForm {
    kind: PiiKind::CoNit,
    layouts: &[
        "999.999.999-9",
        "999999999-9",
        "999 999 999 9",
        "9.999.999.999-9",
        "9999999999-9",
        "9999999999",
        "99999999999",
    ],
    check: co_nit,
    one_of: 11,
    context: &[
        "n.i.t.",
        "nit.",
        "número de identificación tributaria",
        "numero de identificacion tributaria",
        "nit:",
        "nit n°",
        "nit no",
    ],
};
