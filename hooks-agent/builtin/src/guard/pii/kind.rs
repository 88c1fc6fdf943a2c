//! The built-in kinds of personal data.

use std::fmt;

macro_rules! kinds {
    ($(#[$doc:meta])* pub enum PiiKind { $($(#[$of:meta])* $kind:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum PiiKind {
            $($(#[$of])* $kind,)*
        }

        impl PiiKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// The name that replacements and errors show. Both versions of IP are `ip`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// A kind of personal data that a [`PiiScanner`](crate::guard::pii::PiiScanner) finds.
    ///
    /// Boundaries of words are ASCII: an address that touches CJK text is found.
    ///
    /// | kind | name | what is found |
    /// |---|---|---|
    /// | `Email` | `email` | letters, digits and `._%+-'` before `@`, a host with a top-level domain after it; Latin letters with marks are letters. Neither quoted local parts nor hosts in other scripts |
    /// | `CreditCard` | `credit_card` | 13 to 19 digits that an issuer uses, with a Luhn checksum; together or in groups of three or more digits with spaces or with dashes; the last one of 4-4-4-4-1 to 3 may be shorter |
    /// | `Ipv4` | `ip` | four octets without leading zeros, not inside of a longer dotted number |
    /// | `Ipv6` | `ip` | every form, with an embedded IPv4 address and a zone. Not `::`, and not two short groups such as `1::2`, which are slices and paths in code; `::1` is found |
    /// | `MacAddress` | `mac_address` | six pairs with colons or with dashes, or three groups of four with dots, not inside of a longer chain |
    /// | `Url` | `url` | with a scheme, with `www.`, or a host with a path and a well-known top-level domain; with path, query and fragment, without the punctuation of the sentence |
    /// | `Phone` | `phone` | `+` or `00` with a country code and the length that this country has; national numbers of a clear shape: North America, mobile numbers of China, Russia with 8, and numbers with a leading zero and groups as in Europe, Japan and China |
    /// | `CryptoAddress` | `crypto_address` | addresses of Bitcoin with their checksum; of Ethereum `0x` and 40 digits, without |
    /// | `Coordinates` | `coordinates` | a latitude and a longitude with three decimals or more, behind a word such as `gps`, or with degrees or directions |
    /// | `BirthDate` | `birth_date` | a date in digits or with the name of the month, behind a word such as `born` |
    /// | `Passport`, `DrivingLicence` | `passport`, `driving_licence` | six to 18 letters and digits of the forms that countries use, behind a word that says so, and never without |
    /// | `LicencePlate` | `licence_plate` | plates of vehicles of some 20 countries, behind a word that says so; by choice |
    /// | `Iban` | `iban` | the length of the country and the checksum; together or in groups of four |
    ///
    /// The others are identity and tax numbers, by country. Their check digits and dates must be right, and where
    /// more than one of 100 numbers of the form passes, or one of 1,000 digits without separators, a word such as
    /// `ssn` must stand before it in the same 64 bytes, or as the key of a JSON value: see [`PiiConfidence`].
    ///
    /// [`PiiConfidence`]: crate::guard::pii::PiiConfidence
    pub enum PiiKind {
        /// E-mail addresses.
        Email = "email",
        /// Numbers of payment cards.
        CreditCard = "credit_card",
        /// IPv4 addresses.
        Ipv4 = "ip",
        /// IPv6 addresses.
        Ipv6 = "ip",
        /// MAC addresses.
        MacAddress = "mac_address",
        /// URLs.
        Url = "url",
        /// Telephone numbers.
        Phone = "phone",
        /// International bank account numbers.
        Iban = "iban",
        /// Addresses of Bitcoin and Ethereum.
        CryptoAddress = "crypto_address",
        /// Places by latitude and longitude.
        Coordinates = "coordinates",
        /// Dates behind a word such as `born`.
        BirthDate = "birth_date",
        /// The social security number of the United States.
        UsSsn = "us_ssn",
        /// The individual taxpayer number of the United States.
        UsItin = "us_itin",
        /// The routing number of banks of the United States.
        UsAba = "us_aba",
        /// The provider number of the United States.
        UsNpi = "us_npi",
        /// The registration number of the Drug Enforcement Administration of the United States.
        UsDea = "us_dea",
        /// The social insurance number of Canada.
        CaSin = "ca_sin",
        /// The population key of Mexico.
        MxCurp = "mx_curp",
        /// The taxpayer number of persons in Brazil.
        BrCpf = "br_cpf",
        /// The taxpayer number of companies in Brazil.
        BrCnpj = "br_cnpj",
        /// The tax and labour number of Argentina.
        ArCuit = "ar_cuit",
        /// The national number of Chile.
        ClRut = "cl_rut",
        /// The tax number of Colombia.
        CoNit = "co_nit",
        /// The Aadhaar number of India.
        InAadhaar = "in_aadhaar",
        /// The permanent account number of India.
        InPan = "in_pan",
        /// The goods and services tax number of India.
        InGstin = "in_gstin",
        /// The resident number of China.
        CnResidentId = "cn_resident_id",
        /// The individual number of Japan.
        JpMyNumber = "jp_my_number",
        /// The resident registration number of Korea.
        KrRrn = "kr_rrn",
        /// The identity numbers of Singapore, with the prefixes `S`, `T`, `F`, `G` and `M`.
        SgNric = "sg_nric",
        /// The identity number of Israel.
        IlId = "il_id",
        /// The identity number of Turkey.
        TrKimlik = "tr_kimlik",
        /// The tax file number of Australia.
        AuTfn = "au_tfn",
        /// The Medicare number of Australia.
        AuMedicare = "au_medicare",
        /// The identity number of South Africa.
        ZaId = "za_id",
        /// The PESEL number of Poland.
        PlPesel = "pl_pesel",
        /// The personal numeric code of Romania.
        RoCnp = "ro_cnp",
        /// The uniform civil number of Bulgaria.
        BgEgn = "bg_egn",
        /// The birth number of the Czech Republic and Slovakia.
        CzRodneCislo = "cz_rodne_cislo",
        /// The social security number of Hungary.
        HuTaj = "hu_taj",
        /// The tax number of persons in Hungary.
        HuTaxId = "hu_tax_id",
        /// The personal number of Croatia.
        HrOib = "hr_oib",
        /// The personal number of Slovenia, and of the other parts of Yugoslavia.
        SiEmso = "si_emso",
        /// The personal number of Sweden.
        SePersonnummer = "se_personnummer",
        /// The birth number of Norway.
        NoFodselsnummer = "no_fodselsnummer",
        /// The personal identity code of Finland.
        FiHenkilotunnus = "fi_henkilotunnus",
        /// The personal number of Denmark.
        DkCpr = "dk_cpr",
        /// The personal codes of Estonia.
        EeLtPersonalCode = "ee_lt_personal_code",
        /// The identity number of Spain.
        EsDni = "es_dni",
        /// The number of foreigners in Spain.
        EsNie = "es_nie",
        /// The tax code of Italy.
        ItCodiceFiscale = "it_codice_fiscale",
        /// The tax number of Portugal.
        PtNif = "pt_nif",
        /// The social security number of Greece.
        GrAmka = "gr_amka",
        /// The NHS number of the United Kingdom.
        UkNhs = "uk_nhs",
        /// The National Insurance number of the United Kingdom.
        UkNino = "uk_nino",
        /// The personal public service number of Ireland.
        IePps = "ie_pps",
        /// The tax number of persons in Germany.
        DeSteuerId = "de_steuer_id",
        /// The social insurance number of Austria.
        AtSvnr = "at_svnr",
        /// The social insurance number of Switzerland.
        ChAhv = "ch_ahv",
        /// The citizen service number of the Netherlands.
        NlBsn = "nl_bsn",
        /// The national register number of Belgium.
        BeNrn = "be_nrn",
        /// The social security number of France.
        FrNir = "fr_nir",
        /// VAT numbers of the European Union, with the prefix of the country.
        EuVat = "eu_vat",
        /// Numbers of passports, behind a word such as `passport`.
        Passport = "passport",
        /// Numbers of driving licences, behind a word such as `driving licence`.
        DrivingLicence = "driving_licence",
        /// Plates of vehicles, behind a word such as `number plate`. By choice: a scanner for all kinds does not
        /// find them.
        LicencePlate = "licence_plate",
    }
}

impl PiiKind {
    /// Returns whether a scanner finds it only where it is named.
    #[must_use]
    pub const fn is_by_choice(self) -> bool {
        matches!(self, Self::LicencePlate)
    }
}

impl fmt::Display for PiiKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
