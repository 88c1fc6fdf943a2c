//! Amounts of money in texts.

/// The codes of currencies, by ISO 4217.
const CODES: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD \
    CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL \
    HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA \
    MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB \
    RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU \
    UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG";

/// Reads an amount such as `1,250.50`, `1.250,50 EUR` or `-€ 30`, without its currency.
///
/// A text that can be read in two ways, as `1.250`, is an error.
pub(crate) fn amount_of(text: &str) -> Result<f64, &'static str> {
    const EXPECTED: &str = "`amount` expects one amount such as `1,250.50`";
    let start = text.find(|it: char| it.is_ascii_digit()).ok_or(EXPECTED)?;
    let end = text.rfind(|it: char| it.is_ascii_digit()).ok_or(EXPECTED)? + 1;
    let (before, number, after) = (&text[..start], &text[start..end], &text[end..]);
    let is_negative = before.contains(['-', '−']);
    let is_fit =
        is_currency(before.replacen(['-', '−', '+'], "", 1).trim()) && is_currency(after.trim());
    let is_separator =
        |it: char| matches!(it, ',' | '.' | '\'' | '’' | '_' | ' ' | '\u{a0}' | '\u{202f}');
    if !is_fit || !number.chars().all(|it| it.is_ascii_digit() || is_separator(it)) {
        return Err(EXPECTED);
    }
    let (whole, fraction) = match decimal_at(number)? {
        Some(at) => (&number[..at], &number[at + 1..]),
        None => (number, ""),
    };
    let mut groups = whole.split(is_separator);
    let first = groups.next().unwrap_or_default();
    let mut digits = first.to_owned();
    let mut is_grouped = false;
    for group in groups {
        is_grouped = true;
        if group.len() != 3 {
            return Err(EXPECTED);
        }
        digits.push_str(group);
    }
    if is_grouped && first.len() > 3 {
        return Err(EXPECTED);
    }
    let number: f64 = format!("{digits}.{fraction}0").parse().map_err(|_| EXPECTED)?;
    Ok(if is_negative { -number } else { number })
}

/// Returns the place of the decimal point, if there is one.
fn decimal_at(number: &str) -> Result<Option<usize>, &'static str> {
    let (comma, point) = (number.rfind(','), number.rfind('.'));
    let (last, sign) = match (comma, point) {
        (None, None) => return Ok(None),
        // Of two signs, the last one is the point.
        (Some(comma), Some(point)) => {
            let at = comma.max(point);
            let sign = &number[at..=at];
            return match number.matches(sign).count() {
                1 => Ok(Some(at)),
                _ => Err("`amount` expects one amount such as `1,250.50`"),
            };
        }
        (Some(at), None) => (at, ','),
        (None, Some(at)) => (at, '.'),
    };
    match (number.matches(sign).count(), number.len() - last - 1) {
        (1, 3) => {
            Err("`amount` cannot tell thousands from decimals; it expects such as `1,250.50`")
        }
        (1, _) => Ok(Some(last)),
        _ => Ok(None),
    }
}

/// Returns whether a text is nothing, a sign of a currency, or its code: what else stands there may be a part of the
/// amount, as in `5k`.
fn is_currency(text: &str) -> bool {
    let is_code = text.len() == 3 && CODES.split(' ').any(|code| code == text);
    text.is_empty() || is_code || ["$", "€", "£", "¥", "₹", "₽"].contains(&text)
}
