//! What may stay of markup: elements that structure, say or draw, and attributes that neither load nor run.

/// What becomes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays under this name.
    Stays(&'static str),
    /// Its tags go, what is in it stays.
    Opens,
    /// It goes with what is in it.
    Goes,
}

/// What an attribute may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// Words, numbers and names, which nobody follows.
    Anything,
    /// A list of declarations.
    Style,
    /// One value of a style.
    Value,
    /// An address that a reader may follow.
    Link,
    /// A picture that it carries in itself.
    Picture,
    /// A part of the same document.
    Part,
}

/// Elements of HTML that stay.
const HTML: &str = "\
    a abbr acronym address article aside b bdi bdo big blockquote body br caption center cite code col colgroup \
    data dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 head header hgroup hr \
    html i img ins kbd li main mark menu meter nav ol p pre progress q rp rt ruby s samp section small span strike \
    strong sub summary sup table tbody td tfoot th thead time title tr tt u ul var wbr";

/// Elements of HTML that are not words: what is in them goes too.
const NO_WORDS: &str = "\
    script iframe noembed noframes frameset object applet template datalist select portal fencedframe annotation \
    annotation-xml foreignobject handler listener";

/// Elements of SVG that stay. Animations, scripts and HTML inside of pictures are none of them.
const SVG: &str = "\
    svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title desc style a \
    image marker mask clipPath pattern linearGradient radialGradient stop filter feBlend feColorMatrix \
    feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight \
    feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset \
    fePointLight feSpecularLighting feSpotLight feTile feTurbulence switch view";

/// Attributes of any element.
const ANYWHERE: &str = "class id lang title dir role";

/// Attributes of elements of HTML.
const OF_HTML: &str = "\
    abbr align alt bgcolor border cellpadding cellspacing char charoff color cols colspan compact datetime face \
    frame headers height hidden high hspace low max min noshade nowrap open optimum reversed rows rowspan rules \
    scope size span start summary type valign value vspace width";

/// Attributes of elements of SVG that hold numbers, names and words.
const OF_SVG: &str = "\
    accent-height alignment-baseline amplitude azimuth baseFrequency baseline-shift baseProfile bias clip-rule \
    clipPathUnits color-interpolation color-interpolation-filters cx cy d diffuseConstant direction display \
    divisor dominant-baseline dx dy edgeMode elevation enable-background exponent fill-opacity fill-rule \
    filterUnits flood-opacity font-family font-size font-size-adjust font-stretch font-style font-variant \
    font-weight fr fx fy gradientUnits height image-rendering in in2 intercept k1 k2 k3 k4 kernelMatrix \
    kernelUnitLength kerning lengthAdjust letter-spacing limitingConeAngle markerHeight markerUnits markerWidth \
    maskContentUnits maskUnits method mode numOctaves offset opacity operator order orient overflow paint-order \
    pathLength patternContentUnits patternUnits pointer-events points pointsAtX pointsAtY pointsAtZ preserveAlpha \
    preserveAspectRatio primitiveUnits r radius refX refY result rotate rx ry scale seed shape-rendering side \
    slope spacing specularConstant specularExponent spreadMethod startOffset stdDeviation stitchTiles stop-opacity \
    stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity \
    stroke-width surfaceScale systemLanguage tableValues targetX targetY text-anchor text-decoration \
    text-rendering textLength type unicode-bidi vector-effect version viewBox visibility width word-spacing \
    writing-mode x x1 x2 xChannelSelector y y1 y2 yChannelSelector z";

/// Attributes of SVG whose values are those of styles: they may name a part to draw with.
const VALUES: &str = "\
    clip clip-path color cursor fill filter flood-color gradientTransform lighting-color marker marker-end \
    marker-mid marker-start mask patternTransform stop-color stroke transform transform-origin mix-blend-mode";

fn known(list: &'static str, name: &[u8]) -> Option<&'static str> {
    list.split(' ').find(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

/// What becomes of an element of HTML. A style, a meta and a picture of SVG are the caller's to see to.
pub(super) fn of_html(name: &[u8]) -> Fate {
    match known(HTML, name) {
        Some(name) => Fate::Stays(name),
        None if known(NO_WORDS, name).is_some() => Fate::Goes,
        None => Fate::Opens,
    }
}

/// What becomes of an element of SVG. What nobody knows is not drawn either (SVG 2, 5.1).
pub(super) fn of_svg(name: &[u8]) -> Fate {
    known(SVG, name).map_or(Fate::Goes, Fate::Stays)
}

/// Under which name an attribute stays, and what it may say. `local` is its name without a prefix.
pub(super) fn attribute(element: &str, is_svg: bool, name: &[u8], local: &[u8]) -> Option<(&'static str, Says)> {
    if local.eq_ignore_ascii_case(b"href") {
        let says = match element {
            "a" => Says::Link,
            "image" if is_svg => Says::Picture,
            "use" | "linearGradient" | "radialGradient" | "pattern" | "textPath" | "filter" if is_svg => Says::Part,
            _ => return None,
        };
        // A prefix is that of XLink: there is no other `href`.
        let is_prefixed = is_svg && name.len() > local.len();
        return Some((if is_prefixed { "xlink:href" } else { "href" }, says));
    }
    if name.eq_ignore_ascii_case(b"style") {
        return Some(("style", Says::Style));
    }
    if element == "img" && name.eq_ignore_ascii_case(b"src") {
        return Some(("src", Says::Picture));
    }
    if is_svg && name.eq_ignore_ascii_case(b"xml:space") {
        return Some(("xml:space", Says::Anything));
    }
    if element == "feColorMatrix" && name.eq_ignore_ascii_case(b"values") {
        return Some(("values", Says::Value));
    }
    if let Some(name) = known(VALUES, name).filter(|_| is_svg) {
        return Some((name, Says::Value));
    }
    let own = if is_svg { OF_SVG } else { OF_HTML };
    known(ANYWHERE, name).or_else(|| known(own, name)).or_else(|| known(ARIA, name)).map(|name| (name, Says::Anything))
}

/// What is said to those who do not see the page.
const ARIA: &str = "\
    aria-describedby aria-description aria-details aria-expanded aria-hidden aria-label aria-labelledby aria-level \
    aria-roledescription aria-sort";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::markup::element::{Property, is_handler};

    #[test]
    fn no_list_holds_a_handler_or_an_address_by_chance() {
        for name in [ANYWHERE, OF_HTML, OF_SVG, VALUES, ARIA].iter().flat_map(|list| list.split(' ')) {
            let property = Property { name: name.as_bytes().to_vec(), value: b"x"[..].into(), is_quoted: true };
            assert!(!is_handler(name.as_bytes()) && !property.is_address(), "{name}");
        }
    }

    #[test]
    fn what_acts_is_on_no_list() {
        for name in ["script", "iframe", "embed", "base", "link", "form", "input", "animate", "set", "foreignObject"] {
            assert!(known(HTML, name.as_bytes()).is_none() && known(SVG, name.as_bytes()).is_none(), "{name}");
        }
        assert_eq!(of_svg(b"LINEARGRADIENT"), Fate::Stays("linearGradient"));
        assert_eq!(of_html(b"noscript"), Fate::Opens);
        assert_eq!(of_html(b"template"), Fate::Goes);
    }
}
