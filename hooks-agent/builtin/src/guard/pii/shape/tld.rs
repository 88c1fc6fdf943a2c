//! Top-level domains that make a host plausible when it has neither a scheme nor `www.`.

/// Top-level domains of countries, without those that are also the ends of names of files.
const COUNTRIES: &str = " ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi \
    bj bm bn bo br bs bt bw by bz ca cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm \
    do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw \
    gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz \
    la lb lc li lk lr ls lt lu lv ly ma mc me mg mh ml mn mo mp mq mr mt mu mv mw mx my mz na \
    nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pm pn pr pt pw qa re ro ru rw sa \
    sb sc sd se sg si sk sl sm sn sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to \
    tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw ";

/// Top-level domains in general use.
const GENERIC: &str = " academy agency amsterdam aero app art asia bank bar berlin best bike bio biz \
    blog build business cafe capital care cat center charity chat church city cloud club codes coffee \
    com community company consulting cool coop design dev digital direct directory earth edu \
    education email energy engineering events exchange expert express family fashion finance fit \
    fund fyi gallery game games global goog google gov green group guide guru hamburg health host \
    hosting house inc info institute insure int international jobs koeln land law legal life limited \
    link live llc london love ltd management market marketing media mil mobi moe money museum name \
    net network news ngo ninja one online ong org page paris partners party photo photography \
    photos pics pizza place plus post press pro productions pub realty report rest restaurant review \
    reviews rocks sale school science services shop show site social software solutions space sport \
    store stream studio style support swiss systems team tech technology tel tips today tokyo \
    tools top tours town toys trade training travel tube university vegas video vip wales watch \
    website wiki wien win wine work works world xxx xyz yoga zone ";

/// Ends of names of files that are no top-level domains.
const FILES: &str = " avif bmp css csv gif gz htm html ico jar jpeg jpg js json jsx lock log pdf png scss svg \
    tgz tiff toml ts tsx txt webp whl xml yaml yml ";

/// Whether a label ends the name of a file and no host, as in `icon@2x.png`.
pub(crate) fn is_file_extension(label: &[u8]) -> bool {
    let label = std::str::from_utf8(label).unwrap_or_default().to_ascii_lowercase();
    !label.is_empty() && FILES.split(' ').any(|known| known == label)
}

/// Whether a host has labels that are not empty and a top-level domain of these.
pub(crate) fn is_plausible_host(host: &str) -> bool {
    let Some((rest, top)) = host.rsplit_once('.') else { return false };
    let labelled = rest.split('.').all(|label| !label.is_empty() && !label.starts_with('-'));
    labelled && is_top_level(top)
}

fn is_top_level(top: &str) -> bool {
    let coded = top.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("xn--"));
    (coded && top.len() > 4) || (top.len() <= 16 && is_listed(&top.to_ascii_lowercase()))
}

fn is_listed(top: &str) -> bool {
    let listed = |list: &str| {
        list.match_indices(top).any(|(at, _)| {
            let bytes = list.as_bytes();
            bytes[at - 1] == b' ' && bytes[at + top.len()] == b' '
        })
    };
    top.len() >= 2
        && top.bytes().all(|byte| byte.is_ascii_lowercase())
        && match top.len() {
            2 => listed(COUNTRIES),
            _ => listed(GENERIC),
        }
}
