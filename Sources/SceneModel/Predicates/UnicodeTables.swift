// swift-format-ignore-file
// Written by Scripts/make-unicode-tables from Unicode 15.0.0; change it there.

extension UnicodeTables {
  /// What is left of each scalar once it is decomposed and its marks are gone, in runs of scalars that follow each other:
  /// the first scalar of a run, a space, what is left of each, and a space. Without Hangul, which is taken apart by arithmetic.
  static let runs = """
    C0 AAAAAA C7 CEEEEIIII D1 NOOOOO D9 UUUUY E0 aaaaaa E7 ceeeeiiii F1 nooooo F9 uuuuy FF yAaAaAaCcCcCcCcDd 112 EeEeEe\
    EeEeGgGgGgGgHh 128 IiIiIiIiI 134 JjKk 139 LlLlLl 143 NnNnNn 14C OoOoOo 154 RrRrRrSsSsSsSsTtTt 168 UuUuUuUuUuUuWwYyY\
    ZzZzZz 1A0 Oo 1AF Uu 1CD AaIiOoUuUuUuUuUu 1DE AaAaÆæ 1E6 GgKkOoOoƷʒj 1F4 Gg 1F8 NnAaÆæØøAaAaEeEeIiIiOoOoRrRrUuUuSsT\
    t 21E Hh 226 AaEeOoOoOoOoYy 374 \u{2B9} 37E \u{3B} 385 \u{A8}Α\u{B7}ΕΗΙ 38C Ο 38E ΥΩι 3AA ΙΥαεηιυ 3CA ιυουω 3D3 ϒϒ\
     400 ЕЕ 403 Г 407 І 40C КИУ 419 И 439 и 450 ее 453 г 457 і 45C киу 476 Ѵѵ 4C1 Жж 4D0 АаАа 4D6 Ее 4DA ӘәЖжЗз 4E2 ИиИ\
    иОо 4EA ӨөЭэУуУуУуЧч 4F8 Ыы 622 \u{627}\u{627}\u{648}\u{627}\u{64A} 6C0 \u{6D5} 6C2 \u{6C1} 6D3 \u{6D2} 929 न 931 र\
     934 ळ 958 कखगजडढफय 9DC ডঢ 9DF য A33 ਲ A36 ਸ A59 ਖਗਜ A5E ਫ B5C ଡଢ B94 ஒ F43 ག F4D ཌ F52 ད F57 བ F5C ཛ F69 ཀ 1026 ဥ\
     1B06 ᬅ 1B08 ᬇ 1B0A ᬉ 1B0C ᬋ 1B0E ᬍ 1B12 ᬑ 1E00 AaBbBbBbCcDdDdDdDdDdEeEeEeEeEeFfGgHhHhHhHhHhIiIiKkKkKkLlLlLlLlMmMmM\
    mNnNnNnNnOoOoOoOoPpPpRrRrRrRrSsSsSsSsSsTtTtTtTtUuUuUuUuUuVvVvWwWwWwWwWwXxXxYyZzZzZzhtwy 1E9B ſ 1EA0 AaAaAaAaAaAaAaA\
    aAaAaAaAaEeEeEeEeEeEeEeEeIiIiOoOoOoOoOoOoOoOoOoOoOoOoUuUuUuUuUuUuUuYyYyYyYy 1F00 ααααααααΑΑΑΑΑΑΑΑεεεεεε 1F18 ΕΕΕΕΕΕ\
     1F20 ηηηηηηηηΗΗΗΗΗΗΗΗιιιιιιιιΙΙΙΙΙΙΙΙοοοοοο 1F48 ΟΟΟΟΟΟ 1F50 υυυυυυυυ 1F59 Υ 1F5B Υ 1F5D Υ 1F5F ΥωωωωωωωωΩΩΩΩΩΩΩΩα\
    αεεηηιιοουυωω 1F80 ααααααααΑΑΑΑΑΑΑΑηηηηηηηηΗΗΗΗΗΗΗΗωωωωωωωωΩΩΩΩΩΩΩΩααααα 1FB6 ααΑΑΑΑΑ 1FBE ι 1FC1 \u{A8}ηηη 1FC6 ηη\
    ΕΕΗΗΗ\u{1FBF}\u{1FBF}\u{1FBF}ιιιι 1FD6 ιιΙΙΙΙ 1FDD \u{1FFE}\u{1FFE}\u{1FFE}υυυυρρυυΥΥΥΥΡ\u{A8}\u{A8}\u{60} 1FF2 ωωω\
     1FF6 ωωΟΟΩΩΩ\u{B4} 2000 \u{2002}\u{2003} 2126 Ω 212A KA 219A \u{2190}\u{2192} 21AE \u{2194} 21CD \u{21D0}\u{21D4}\
    \u{21D2} 2204 \u{2203} 2209 \u{2208} 220C \u{220B} 2224 \u{2223} 2226 \u{2225} 2241 \u{223C} 2244 \u{2243}\
     2247 \u{2245} 2249 \u{2248} 2260 \u{3D} 2262 \u{2261} 226D \u{224D}\u{3C}\u{3E}\u{2264}\u{2265} 2274 \u{2272}\
    \u{2273} 2278 \u{2276}\u{2277} 2280 \u{227A}\u{227B} 2284 \u{2282}\u{2283} 2288 \u{2286}\u{2287} 22AC \u{22A2}\
    \u{22A8}\u{22A9}\u{22AB} 22E0 \u{227C}\u{227D}\u{2291}\u{2292} 22EA \u{22B2}\u{22B3}\u{22B4}\u{22B5} 2329 \u{3008}\
    \u{3009} 2ADC \u{2ADD} 304C か 304E き 3050 く 3052 け 3054 こ 3056 さ 3058 し 305A す 305C せ 305E そ 3060 た\
     3062 ち 3065 つ 3067 て 3069 と 3070 はは 3073 ひひ 3076 ふふ 3079 へへ 307C ほほ 3094 う 309E ゝ 30AC カ 30AE キ\
     30B0 ク 30B2 ケ 30B4 コ 30B6 サ 30B8 シ 30BA ス 30BC セ 30BE ソ 30C0 タ 30C2 チ 30C5 ツ 30C7 テ 30C9 ト 30D0 ハハ\
     30D3 ヒヒ 30D6 フフ 30D9 ヘヘ 30DC ホホ 30F4 ウ 30F7 ワヰヱヲ 30FE ヽ F900 豈更車賈滑串句龜龜契金喇奈懶癩羅蘿螺裸\
    邏樂洛烙珞落酪駱亂卵欄爛蘭鸞嵐濫藍襤拉臘蠟廊朗浪狼郎來冷勞擄櫓爐盧老蘆虜路露魯鷺碌祿綠菉錄鹿論壟弄籠聾牢磊賂雷壘屢\
    樓淚漏累縷陋勒肋凜凌稜綾菱陵讀拏樂諾丹寧怒率異北磻便復不泌數索參塞省葉說殺辰沈拾若掠略亮兩凉梁糧良諒量勵呂女廬旅濾\
    礪閭驪麗黎力曆歷轢年憐戀撚漣煉璉秊練聯輦蓮連鍊列劣咽烈裂說廉念捻殮簾獵令囹寧嶺怜玲瑩羚聆鈴零靈領例禮醴隸惡了僚寮尿\
    料樂燎療蓼遼龍暈阮劉杻柳流溜琉留硫紐類六戮陸倫崙淪輪律慄栗率隆利吏履易李梨泥理痢罹裏裡里離匿溺吝燐璘藺隣鱗麟林淋臨\
    立笠粒狀炙識什茶刺切度拓糖宅洞暴輻行降見廓兀嗀 FA10 塚 FA12 晴 FA15 凞猪益礼神祥福靖精羽 FA20 蘒 FA22 諸 FA25 逸都\
     FA2A 飯飼館鶴郞隷侮僧免勉勤卑喝嘆器塀墨層屮悔慨憎懲敏既暑梅海渚漢煮爫琢碑社祉祈祐祖祝禍禎穀突節練縉繁署者臭艹艹著\
    褐視謁謹賓贈辶逸難響頻恵𤋮舘 FA70 並况全侀充冀勇勺喝啕喙嗢塚墳奄奔婢嬨廒廙彩徭惘慎愈憎慠懲戴揄搜摒敖晴朗望杖歹殺流\
    滛滋漢瀞煮瞧爵犯猪瑱甆画瘝瘟益盛直睊着磌窱節类絛練缾者荒華蝹襁覆視調諸請謁諾諭謹變贈輸遲醙鉶陼難靖韛響頋頻鬒龜𢡊𢡄\
    𣏕㮝䀘䀹𥉉𥳐𧻓齃龎 FB1D \u{5D9} FB1F \u{5F2} FB2A \u{5E9}\u{5E9}\u{5E9}\u{5E9}\u{5D0}\u{5D0}\u{5D0}\u{5D1}\u{5D2}\
    \u{5D3}\u{5D4}\u{5D5}\u{5D6} FB38 \u{5D8}\u{5D9}\u{5DA}\u{5DB}\u{5DC} FB3E \u{5DE} FB40 \u{5E0}\u{5E1} FB43 \u{5E3}\
    \u{5E4} FB46 \u{5E6}\u{5E7}\u{5E8}\u{5E9}\u{5EA}\u{5D5}\u{5D1}\u{5DB}\u{5E4} 1109A 𑂙 1109C 𑂛 110AB 𑂥\
     1D15E \u{1D157}\u{1D158}\u{1D158}\u{1D158}\u{1D158}\u{1D158}\u{1D158} 1D1BB \u{1D1B9}\u{1D1BA}\u{1D1B9}\u{1D1BA}\
    \u{1D1B9}\u{1D1BA} 2F800 丽丸乁𠄢你侮侻倂偺備僧像㒞𠘺免兔兤具𠔜㒹內再𠕋冗冤仌冬况𩇟凵刃㓟刻剆割剷㔕勇勉勤勺包匆北卉\
    卑博即卽卿卿卿𠨬灰及叟𠭣叫叱吆咞吸呈周咢哶唐啓啣善善喙喫喳嗂圖嘆圗噑噴切壮城埴堍型堲報墬𡓤売壷夆多夢奢𡚨𡛪姬娛娧姘\
    婦㛮㛼嬈嬾嬾𡧈寃寘寧寳𡬘寿将当尢㞁屠屮峀岍𡷤嵃𡷦嵮嵫嵼巡巢㠯巽帨帽幩㡢𢆃㡼庰庳庶廊𪎒廾𢌱𢌱舁弢弢㣇𣊸𦇚形彫㣣徚忍志\
    忹悁㤺㤜悔𢛔惇慈慌慎慌慺憎憲憤憯懞懲懶成戛扝抱拔捐𢬌挽拼捨掃揤𢯱搢揅掩㨮摩摾撝摷㩬敏敬𣀊旣書晉㬙暑㬈㫤冒冕最暜肭䏙\
    朗望朡杞杓𣏃㭉柺枅桒梅𣑭梎栟椔㮝楂榣槪檨𣚣櫛㰘次𣢧歔㱎歲殟殺殻𣪍𡴋𣫺汎𣲼沿泍汧洖派海流浩浸涅𣴞洴港湮㴳滋滇𣻑淹潮𣽞\
    𣾎濆瀹瀞瀛㶖灊災灷炭𠔥煅𤉣熜𤎫爨爵牐𤘈犀犕𤜵𤠔獺王㺬玥㺸㺸瑇瑜瑱璅瓊㼛甤𤰶甾𤲒異𢆟瘐𤾡𤾸𥁄㿼䀈直𥃳𥃲𥄙𥄳眞真真睊䀹\
    瞋䁆䂖𥐝硎碌磌䃣𥘦祖𥚚𥛅福秫䄯穀穊穏𥥼𥪧𥪧竮䈂𥮫篆築䈧𥲀糒䊠糨糣紀𥾆絣䌁緇縂繅䌴𦈨𦉇䍙𦋙罺𦌾羕翺者𦓚𦔣聠𦖨聰𣍟䏕育\
    脃䐋脾媵𦞧𦞵𣎓𣎜舁舄辞䑫芑芋芝劳花芳芽苦𦬼若茝荣莭茣莽菧著荓菊菌菜𦰶𦵫𦳕䔫蓱蓳蔖𧏊蕤𦼬䕝䕡𦾱𧃒䕫虐虜虧虩蚩蚈蜎蛢蝹\
    蜨蝫螆䗗蟡蠁䗹衠衣𧙧裗裞䘵裺㒻𧢮𧥦䚾䛇誠諭變豕𧲨貫賁贛起𧼯𠠄跋趼跰𠣞軔輸𨗒𨗭邔郱鄑𨜮鄛鈸鋗鋘鉼鏹鐕𨯺開䦕閷𨵷䧦雃嶲\
    霣𩅅𩈚䩮䩶韠𩐊䪲𩒖頋頋頩𩖶飢䬳餩馧駂駾䯎𩬰鬒鱀鳽䳎䳭鵧𪃎䳸𪄅𪈎𪊑麻䵖黹黾鼅鼏鼖鼻𪘀
    """
}
