"""Which names do the likely-URI heuristics and the HTML applicability test go by?

Data only. The top-level domains are IANA's list of 2010-04-19, as Heritrix still carries it.
"""

from __future__ import annotations

#: File extensions that make a doubtful file name likely; matched as written (Heritrix: UriUtils).
GOOD_EXTENSIONS = frozenset(
    """
    .jpg .js .css .png .gif .swf .flv .mp4 .mp3 .jpeg .html .pdf
    """.split()  # noqa: SIM905
)

#: Extensions at which a document is not taken for HTML, in lower case (Heritrix: ExtractorHTML).
NON_HTML_EXTENSIONS = frozenset(
    """
    gif jpg jpeg png tif tiff bmp avi mov mpg mpeg mp3 mp4 swf wav au aiff mid
    """.split()  # noqa: SIM905
)

#: Media types of sound, video and images that scripts name as strings; matched as written.
MEDIA_TYPES = frozenset(
    """
    audio/aiff audio/asf audio/basic audio/m4a audio/mid audio/midi audio/mp3 audio/mp4 audio/mp4a-latm
    audio/mpeg audio/mpeg3 audio/mpegurl audio/mpg audio/ogg audio/playlist audio/unknown
    audio/vnd.qcelp audio/vnd.rn-realaudio audio/wav audio/x-aiff audio/x-m4a audio/x-midi audio/x-mp3
    audio/x-mpeg audio/x-mpeg3 audio/x-mpegurl audio/x-ms-wax audio/x-ms-wma audio/x-ms-wmv
    audio/x-pn-realaudio audio/x-pn-realaudio-plugin audio/x-realaudio audio/x-scpls audio/x-wav
    image/BMP image/GIF image/JPEG image/JPG image/PNG image/bitmap image/bmp image/cur image/fits
    image/gif image/ico image/icon image/jp2 image/jpeg image/jpeg-cmyk image/jpg image/pdf image/pict
    image/pjpeg image/png image/svg+xml image/tiff image/vnd.adobe.photoshop image/vnd.djvu
    image/vnd.dwg image/vnd.dxf image/vnd.microsoft.icon image/vnd.ms-modi image/vnd.ms-photo
    image/vnd.wap.wbmp image/x-MS-bmp image/x-bitmap image/x-bmp image/x-citrix-pjpeg image/x-dcraw
    image/x-djvu image/x-emf image/x-eps image/x-guffaw image/x-ico image/x-icon image/x-jg
    image/x-ms-bmp image/x-pcx image/x-photoshop image/x-pict image/x-png image/x-portable-anymap
    image/x-portable-bitmap image/x-portable-graymap image/x-portable-pixmap image/x-psd
    image/x-quicktime image/x-rgb image/x-windows-bmp image/x-wmf image/x-xbitmap image/x-xbm
    image/x-xfig image/x-xpixmap image/x.djvu image/xicon video/3gpp video/MP4 video/asx video/avi
    video/f4v video/flv video/m4v video/mp4 video/mp4v-es video/mpeg video/mpeg3 video/mpeg4 video/mpg4
    video/msvideo video/ogg video/quicktime video/swf video/unknown video/vnd.objectvideo video/webm
    video/wmv video/x-dv video/x-flv video/x-m4v video/x-mp4 video/x-mpeg video/x-ms-asf video/x-ms-asx
    video/x-ms-wm video/x-ms-wma video/x-ms-wmv video/x-ms-wmx video/x-ms-wvx video/x-msvideo
    video/x-pn-realaudio video/x-pn-realvideo video/x-sgi-movie video/x-swf
    """.split()  # noqa: SIM905
)

#: Element names; ``div.menu`` in a script is a selector, not a file.
HTML_ELEMENTS = frozenset(
    """
    a abbr acronym address applet area article aside audio b base basefont bdi bdo big blockquote body
    br button canvas caption center cite code col colgroup command datalist dd del details dfn dir div
    dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head
    header hgroup hr html i iframe img input ins kbd keygen label legend li link map mark menu meta
    meter nav noframes noscript object ol optgroup option output p param pre progress q rp rt ruby s
    samp script section select small source span strike strong style sub summary sup table tbody td
    textarea tfoot th thead time title tr track tt u ul var video wbr
    """.split()  # noqa: SIM905
)

#: Top-level domains that make dotted labels a host, in lower case.
TLDS_2010 = frozenset(
    """
    ac ad ae aero af ag ai al am an ao aq ar arpa as asia at au aw ax az ba bb bd be bf bg bh bi biz bj
    bm bn bo br bs bt bv bw by bz ca cat cc cd cf cg ch ci ck cl cm cn co com coop cr cu cv cx cy cz de
    dj dk dm do dz ec edu ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gov gp gq
    gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in info int io iq ir is it je jm jo jobs jp ke kg kh
    ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mil mk ml mm mn mo mobi
    mp mq mr ms mt mu museum mv mw mx my mz na name nc ne net nf ng ni nl no np nr nu nz om org pa pe pf
    pg ph pk pl pm pn pr pro ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr
    st su sv sy sz tc td tel tf tg th tj tk tl tm tn to tp tr travel tt tv tw tz ua ug uk us uy uz va vc
    ve vg vi vn vu wf ws xn--0zwm56d xn--11b5bs3a9aj6g xn--80akhbyknj4f xn--9t4b11yi5a xn--deba0ad
    xn--g6w251d xn--hgbk6aj7f53bba xn--hlcj6aya9esc7a xn--jxalpdlp xn--kgbechtv xn--zckzah ye yt za zm
    zw
    """.split()  # noqa: SIM905
)

#: Top-level domains by which ExtractorUniversal knows an address, in lower case.
UNIVERSAL_TLDS = frozenset(
    """
    ac ad ae aero af ag ai al am an ao aq ar as at au aw az ba bb bd be bf bg bh bi biz bj bm bn bo br
    bs bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co com coop cr cs cu cv cx cy cz de dj dk dm do
    dz ec edu ee eg eh er es et fi fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gov gp gq gr gs gt gu gw
    gy hk hm hn hr ht hu id ie il im in info int io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw
    ky kz la lb lc li lk lr ls lt lu lv ly ma mc md mg mh mil mk ml mm mn mo mp mq mr ms mt mu museum mv
    mw mx my mz na name nc ne net nf ng ni nl no np nr nt nu nz om org pa pe pf pg ph pk pl pm pn pr pro
    ps pt pw py qa re ro ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr st sv sy sz tc td tf tg th
    tj tk tm tn to tp tr tt tv tw tz ua ug uk um us uy uz va vc ve vg vi vn vu wf ws ye yt yu za zm zw
    """.split()  # noqa: SIM905
)
