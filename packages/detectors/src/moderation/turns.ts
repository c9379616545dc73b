/**
 * Turns of phrase that say what some do not want said: insults, hatred of groups, threats, harm to oneself, sexual
 * explicitness. A table: no list of slurs, English first, with the plainest of some other languages.
 *
 * In a source, `@` stands for one of the turn's words, `~` for what stands between two words, and `…` for up to three
 * words that deny nothing. Everything is in small letters, and accents do not count.
 */

export type Category = 'harassment' | 'hate' | 'violence' | 'self-harm' | 'sexual';

export interface Turn {
  readonly category: Category;
  readonly confidence: number;
  /** One of them is in each match: it is looked for only where one does. */
  readonly words: readonly string[];
  readonly pattern: RegExp;
}

/** A row is two lines: how sure the turn is, with its words; its source. */
const ROW = /^(0\.\d+) (.+)\n {4}(.+)$/;

function turnsOf(category: Category, table: string): readonly Turn[] {
  return table
    .trim()
    .split(/\n {2}(?! )/)
    .map((row) => {
      const [, confidence, words, source] = ROW.exec(row) ?? [];
      if (words === undefined || source === undefined) throw new Error(`no turn: ${row}`);
      return turnOf(category, Number(confidence), words, source);
    });
}

function turnOf(category: Category, confidence: number, words: string, source: string): Turn {
  const list = withoutAccents(words).split(/\s*,\s*/);
  const filled = withoutAccents(source)
    .replaceAll('@', `(?:${list.map((word) => word.replaceAll(' ', '~')).join('|')})`)
    .replaceAll('~', '(?:[\\s,]{1,4})')
    .replaceAll('…', "(?:(?!(?:not|no|never|if|nicht|pas|non|nao)\\b)[\\p{L}'’-]{1,20}[\\s,]{1,4}){0,3}?");
  return { category, confidence, words: list.map(rootOf), pattern: new RegExp(filled, 'gu') };
}

/** Of a word or some words, the letters in a row that are looked for, from the start of a word on; a full stop is a star. */
function rootOf(word: string): string {
  const certain = word.replaceAll('.', '*').replace(/\(\?:[^)]*\)\??|.\?/gu, ' ');
  const runs = certain.match(/(?<=^| )[\p{L}'*-]+/gu) ?? [];
  const [root = ''] = runs.toReversed().sort((a, b) => b.length - a.length);
  if (root.length < 2) throw new Error(`too little to look for: ${word}`);
  return root;
}

export function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '');
}

const BE = "(?:~are|['’]?re|~is|['’]s|~r|r)";
/** `your app is useless` is about a thing, though `your` may stand for `you are`. */
const NOT_OF_YOURS = '(?!your~(?:\\p{L}{1,20}~){1,3}?(?:is|are|was|were)\\b)';
/** Who a person is called. */
const FOOLS =
  'idiots?,morons?,imbeciles?,losers?,scum,cretins?,assholes?,arseholes?,bastards?,bitch(?:es)?,pricks?,dickheads?,twats?,wankers?,cunts?,douche(?:bag)?s?,scumbags?,dumbass(?:es)?,dumbfucks?,shitheads?,halfwits?,dimwits?,nitwits?,pigs?,rats?,clowns?,jerks?,fools?,cowards?,parasites?,freaks?,creeps?,cows?,pussy,slut,sluts,whores?,degenerates?,weirdos?,retards?,trash,garbage,filth,vermin,nobody,failure,disgrace,embarrassment,waste of (?:space|air|oxygen|skin|time),piece of (?:shit|trash|garbage|crap|filth|dirt|sh.t),pieces of (?:shit|trash|garbage|crap)';
const ADJECTIVES =
  'stupid,dumb,pathetic,worthless,useless,disgusting,filthy,ugly,retarded,brain-?dead,brain dead,braindead,moronic,idiotic,spineless,repulsive,despicable,vile,hopeless,clueless,a joke';
/** What makes an insult of a word behind `you`. */
const SCOLDING =
  '(?:(?:absolute|total|complete|utter|bloody|damn|damned|goddamn|fucking|f.cking|freaking|stupid|dumb|fat|lazy|dirty|filthy|ugly|pathetic|worthless|useless|disgusting|miserable|little|old|sick|poor|rotten|lying|cheating|ignorant|arrogant|spineless|brainless|annoying|two-faced|ungrateful|sorry|selfish)[\\s,]{1,4})';

const HARASSMENT = turnsOf(
  'harassment',
  String.raw`
  0.85 de mierda
    \b(?:\p{L}{4,12}|pedazo)~@\b
  0.9 ${FOOLS}
    \b${NOT_OF_YOURS}(?:you|u|ur|he|she|they|y['’]?all|ya)${BE}~…@\b(?![-\s]?(?:savant|proof|catcher|farm|breed|rac(?:e|ing)))
  0.9 ${FOOLS}
    \bur~…@\b
  0.85 ${ADJECTIVES}
    \b${NOT_OF_YOURS}(?:(?:you|u|y['’]?all)${BE}|ur)~…@(?=\s*(?:$|[.!,;?\n]|and\b|it\b|that\b|as\b|lol\b|af\b|for\b|to\b|\p{L}{1,12}\s*(?:$|[.!?])))
  0.8 ${ADJECTIVES}
    \b(?:he|she)(?:~is|['’]s)~…@(?=\s*(?:$|[.!?]|and~(?:everyone|he|she)))
  0.9 ${FOOLS},${ADJECTIVES}
    \bwhat~(?:an?~|a~bunch~of~)?…@~(?:(?:you|u|he|she|they)${BE})
  0.85 ${FOOLS}
    \b(?:you|u)~${SCOLDING}{0,3}@(?=\s*(?:$|[.!,;?\n]))
  0.85 ${ADJECTIVES}
    \byou~(?:\p{L}{1,12}[\s,]{1,4})?@~\p{L}{2,14}(?=\s*(?:$|[.!?]))(?<=\byou[\s,]{1,4}(?:absolute|total|fat|ugly|filthy|dirty|old|little|lazy|fucking|stupid|dumb|pathetic|worthless|useless|disgusting|retarded|vile)[\s,].{1,40})
  0.85 ${FOOLS}
    \b@~like~(?:you|him|her|them|y['’]?all)\b
  0.8 what a,bunch of,such an?
    \b@~${SCOLDING}{0,2}(?:(?:bunch|pack|load)~of~)?${SCOLDING}{0,2}(?:idiots?|morons?|losers?|clowns?|imbeciles?|assholes?|scumbags?|jerks?|cretins?|cowards|retards?)(?=\s*(?:$|[.!,]))
  0.85 shut,go to hell,drop dead,likes you,wants you,loves you,needs you,miss you,cares,everyone,everybody,fuck,f.ck,fck,screw you,kiss my,get lost,piss off,pi.s off,eat shit,rot in hell,delete your,me sick,disgust me,son of a bitch,sod off,bugger off,gtfo,stfu,favor,favour,get a life,bite me,crawl back,go cry,go die
    \b(?:shut~(?:the~\w{1,8}~)?up(?=\s*(?:$|[.!,;?\n]|and\b|you\b|already\b|with\b))|shut~your~(?:\p{L}{2,10}[\s,])?(?:mouth|face|trap|hole|pie)|go~to~hell|drop~dead(?!~gorgeous)|(?:nobody|no~one)~(?:even~|really~|here~)?(?:likes|wants|loves|needs|would~miss)~(?:you|u)\b(?!~to\b)|(?:nobody|no~one)~cares~(?:about~you|what~you~(?:think|say))|every(?:one|body)~(?:here~|at~\p{L}{2,10}~|in~\p{L}{2,10}~|at~the~\p{L}{2,10}~|in~the~\p{L}{2,10}~)?(?:hates|despises|laughs~at)~(?:you|u)\b|(?:fuck|f.ck|fck)~(?:you|u|off|yourself)|screw~you|kiss~my~ass|get~lost(?=\s*(?:$|[!]|,?~you))|pi.s~off|eat~shit|rot~in~hell|delete~your~account~(?:you|and)|(?:you|people~like~you)~makes?~me~sick|you~disgust~me|son~of~a~bitch|sod~off|bugger~off|gtfo|stfu|do~(?:us~all|us|the~world|everyone)~an?~favou?r~(?:and~)?…(?:die|disappear|quit|leave|vanish|jump)|get~a~life(?=\s*(?:$|[.!,]))|crawl~back~(?:in|under)\p{L}{0,3}~|go~cry~|go~die)(?![\p{L}])
  0.8 behind your back,never amount,never be anything,never be good
    \b(?:laugh(?:s|ing)?|laughing|talks?|mocks?)~(?:at~|about~)?you~behind~your~back|you(?:~will|['’]ll)~never~(?:amount~to|be~(?:anything|good~enough))
  0.85 brain of,face like,iq of
    \byou~(?:have|got)~(?:the|an?)~…@(?=~an?~)(?!~an?~(?:genius|\p{L}{2,12}(?:ist|cian|eer)\b))
  0.85 i hope
    \b@~(?:you|he|she|they|ur)~(?:all~|both~|fucking~|just~|your~\p{L}{2,10}~)?(?:dies?|rots?|burns?(?!~(?:lots|some|calories|fat|off)\b)|suffers?|chokes?(?!~up\b)|gets?~(?:cancer|raped|shot|killed|hit~by|run~over))\b
  0.85 vollidiot,idiot,arschloch,mistkerl,dreckskerl,versager,trottel,depp,abschaum,schwein,sau,drecksau,drecksack,hurensohn,wichser,missgeburt,schlampe,fotze,vollpfosten,mistkerl,dummkopf,spast,blodmann,penner,lappen,loser,opfer,kuh,ziege,hackfresse,feigling
    \b(?:(?:du|ihr|sie)~(?:bist~|seid~|sind~)?(?!nicht\b)(?:(?:so~|echt~|wirklich~|doch~|ja~|nur~)?(?:ein\w{0,2}~)?(?:\p{L}{2,14}e[rsn]?~){0,2}?)?@e?n?\b(?!(?<=opfer|loser|kuh|ziege|lappen|penner)~\p{L})|(?:dumm|blod|dreckig|fett|faul|hasslich|verdammt|mies)e[srn]?~@e?\b)
  0.85 halt,verpiss,fick,leck mich,schnauze,fresse
    \b(?:halt~(?:doch~|endlich~|einfach~)?(?:die|dein|deine)~(?:klappe|maul|fresse|schnauze)|verpiss~dich|fick~(?:dich|deine)|leck~mich|(?:schnauze|fresse)(?=\s*(?:$|!)))
  0.85 espece,ferme,ta gueule,va te faire,connards?,connasses?,salopes?,fils de pute,encules?,pauvre con,pauvre conne,pauvre type,sale con,sale conne,gros con,abrutis?,cretins?,debiles?,minables?,ordures?,imbeciles?,sans cervelle
    \b(?:espece~d(?:e~|['’])(?:\p{L}{1,10}~)?\p{L}{2,14}|ferme(?:(?:-|~)la|~(?:ta|vos)~(?:gueule|bouche))|ta~gueule|va~te~faire~(?:foutre|voir|enculer)|connards?|connasses?|salopes?|fils~de~pute|encules?(?=\s*(?:$|[.!,]))|pauvre~(?:con|conne|type)|(?:sale|gros)~conn?e?|(?:tu~es|t['’]es|vous~etes)~(?:(?:vraiment|juste|bien|rien)~|qu['’]){0,3}(?:une?~|des~)?(?:gros(?:se)?~|sale~|vrai~|pauvre~|sombre~)?(?:abrutie?s?|cretine?s?|debiles?|minables?|ordures?|imbeciles?|idiote?s?))(?![\p{L}])
  0.85 idiota,imbecil,estupid,basura,inutil,payaso,tont,gilipollas,cabron,pendej,mierda,perdedor,asqueros,burr,fracasad,retrasad,lixo,stronz,cretin,coglion,fallit,stupid,merda,patetic,ridicul
    \b(?:(?:eres|sos|son)~(?:tan~|muy~|mas~)?(?:un[ao]?~|una~)?(?:\p{L}{2,12}~)?|pedazo~de~|seu~|sua~|voce~e~(?:um~|uma~)?|sei~(?:proprio~|solo~|davvero~)?(?:uno?~|una~)?|brutt[oa]~|pezzo~di~)@[a-z]{0,3}\b
  0.85 hijo,hija,vete,callate,que te jodan,chinga,gilipollas,vaffanculo,figli,testa di cazzo,chiudi,stronz,filho,vai,cala,klootza,hou,rot op,kankerlijer,je bent
    \b(?:hij[oa]~de~(?:puta|perra)|vete~a~la~(?:mierda|chingada)|callate~(?:la~boca|ya|idiota)|que~te~jodan|chinga~(?:a~)?tu~madre|gilipollas|vaffanculo|figli[oa]~di~puttana|testa~di~cazzo|chiudi~(?:il~becco|quella~bocca)|stronz[oaie](?=\s*(?:$|[.!,]))|filho~da~puta|vai~(?:se~foder|tomar~no~cu|a~merda)|cala~(?:a~|essa~)boca|klootzak|hou~je~(?:bek|kop|muil|smoel)|rot~op|kankerlijer|je~bent~(?:zo~)?(?:echt~)?een~(?:\p{L}{2,12}~)?(?:idioot|sukkel|loser|mislukkeling|eikel|klootzak|trut|hoer))
  0.85 идиот,дурак,дура,тварь,урод,дебил,мразь,ничтожество,заткнись,пошел,пошла,на хуи,сука,тупои,тупая
    (?<!\p{L})(?:(?:ты|вы)~(?:\p{L}{2,12}~){0,2}?(?:идиот|дурак|дура|тварь|урод|дебил|мразь|ничтожество|сука|тупои|тупая)|заткнись|(?:пош[её]л|пошла|иди)~(?:ты~)?(?:на~хуи|нахуи|в~жопу|к~черту))
`,
);

const GROUPS =
  'immigrants?,migrants?,refugees?,asylum seekers?,foreigners?,muslims?,jews?,jewish people,christians?,catholics?,hindus?,sikhs?,buddhists?,atheists?,women,girls,females,men,gays?,gay people,lesbians?,homosexuals?,trans,transgender people,transgenders,queers?,blacks?,black people,black men,black women,whites?,white people,asians?,arabs?,africans?,mexicans?,latinos?,indians?,chinese,chinese people,pakistanis?,nigerians?,turks?,poles,russians,gypsies,gypsy,roma,disabled,disabled people,old people,poor people,fat people,homeless people,homeless,autistic people,autistics,natives,those people,these people,that people,your kind,their kind,his kind';
const SUBHUMAN =
  '(?:vermin|animals|subhumans?|parasites|cockroaches|rats|pigs|dogs|apes|monkeys|savages|beasts|insects|a~disease|a~plague|a~cancer|a~burden|a~threat|a~curse|a~mistake|scum|filth|filthy|trash|garbage|inferior|criminals|terrorists|rapists|thieves|murderers|pedophiles|perverts|freaks|abominations?|an~abomination|disgusting|evil|stupid|dumb|dirty|worthless|less~intelligent|retarded|idiots|morons|liars|leeches|invaders|unclean|not~(?:even~)?(?:human|people|real~(?:men|women|people))|less~than~human|the~(?:problem|enemy|devil))';
const DOOM =
  '(?:exterminated|eradicated|deported|killed|shot|gassed|eliminated|wiped~out|die|drown|suffer|burn|burned|hanged|hung|lynched|thrown~out|kicked~out|driven~out|sterilised|sterilized|castrated|locked~up|beaten|stoned|put~down|sent~back|go~back|be~stopped|get~out|rot|disappear|know~their~place|stay~in~the~kitchen|banned~from~\\p{L}{2,12}|banned)';
const NOT_ALLOWED =
  '(?:vot(?:e|ing)|live|exist|breed|reproduce|work|drive|marry|have~(?:children|kids|rights|jobs|a~job|a~say)|hav(?:e|ing)~(?:children|kids|rights)|rights|speak|respect|be~(?:here|in~\\p{L}{2,12}|allowed|free|alive)|own|adopt|human~rights|raise~(?:children|kids)|equal~rights|mercy|education|school)';

const HATE = turnsOf(
  'hate',
  String.raw`
  0.85 in the kitchen,in a zoo,in camps,in a cage,in cages,in the ovens
    \b(?:they|women|girls|females|immigrants|blacks?|jews|muslims|gays|those~people)~(?:all~|only~)?belongs?~@\b
  0.85 ${GROUPS}
    \b(?:kick|throw|drive|get|keep|chase)~(?:all~|every~|these~|those~|the~){0,2}@~(?:people~)?out\b
  0.9 ${GROUPS}
    \b@~(?:people~|folks~|men~|women~)?(?:are|were|is)~(?:(?:all|just|only|nothing~but|too|so|such|a|an|the|basically|naturally|mentally|biologically|genetically|simply|literally|really|fucking|lazy|dirty|filthy|evil|violent|greedy|ignorant|savage|pure|by~nature|a~bunch~of|nothing~more~than)~){0,3}${SUBHUMAN}(?![\p{L}'’-])
  0.85 ${GROUPS}
    \b@~(?:people~)?(?:are|were|is)~too~(?:stupid|dumb|weak|emotional|lazy|primitive|dirty|ignorant)\b
  0.9 ${GROUPS}
    \b@~(?:\p{L}{2,12}~)?(?:should|must|ought~to|needs?~to|have~to|deserves?(?:~to|~nothing~but(?:~to)?)?|belong)~…(?:be~)?(?:all~)?${DOOM}(?!\p{L})
  0.85 ${GROUPS}
    \b@~(?:people~)?(?:(?:should|must|can)(?:~not|n['’]t|not)~(?:even~)?(?:be~(?:allowed|permitted)~to~)?|(?:do~not|don['’]t|doesn['’]t)~deserve~(?:to~|any~|the~right~to~|equal~)?|have~no~(?:right~to|business)~|are~not~fit~to~|(?:should|must)~never~(?:be~allowed~to~)?)${NOT_ALLOWED}\b
  0.85 ${GROUPS}
    \b@~(?:secretly~|really~|now~|all~)?(?:control|controls|run|own|rule|ruin|ruined|destroy|destroyed|infest|pollute|are~(?:ruining|destroying|taking~over|invading|polluting|infesting|stealing)|steal)~(?:everything|the~(?:world|media|banks|government|country|west|economy)|our~\p{L}{2,14}|this~\p{L}{2,14}|all~the~\p{L}{2,14})\b
  0.85 ${GROUPS}
    \b(?:i~(?:really~|fucking~|just~|absolutely~)?(?:hate|despise|loathe|detest|can['’]t~stand)|we~hate|death~to|get~rid~of|no~(?:room|place)~for|kill~(?:all|every)|gas|lynch|exterminate|deport~all|wipe~out|burn~(?:all|the))~(?:all~|the~|those~|these~|every~|you~|fucking~|damn~){0,2}@\b(?!['’])(?![-\s](?:page|screen|hat|box|paper|cake|tea|coffee|food|noise|room|bars?))
  0.8 ${GROUPS}
    \b(?:dirty|filthy|fucking|stinking|subhuman|disgusting|damn)~@\b(?=\s*(?:$|[.!,?]|are\b|should\b|out\b|go\b|everywhere\b|people\b))(?<!(?:dirty|damn)[\s,]{1,4}(?:whites?|blacks?))
  0.8 ${GROUPS}
    \b(?:do~not|don['’]t|dont|never)~(?:want|need|hire|trust|serve|rent~to|let)~(?:any~|more~|a~)?@~?(?:people~)?(?:here|in~(?:my|our|this)~\p{L}{2,14}|around)?(?=\s*(?:$|[.!,?]|here|around|in~(?:my|our|this)|with~))
  0.8 go back to,went back to
    \b@~(?:your~(?:own~)?(?:country|land|continent|village|people|shithole)|where~you~(?:came|come|belong)|the~jungle|africa|mexico|china|india|asia|pakistan|syria|turkey|arabia)\b(?!~(?:in|for|next|this|last|on|and|settings?|page|profile|selection)\b)
  0.85 white power,heil hitler,sieg heil,race war,master race,white genocide,hitler was right,gas the,holocaust never,holocaust is a,holocaust was a,hitler did nothing
    \b(?:white~power|heil~hitler|sieg~heil|race~war~now|(?:the|our)~master~race|white~genocide|hitler~(?:was~right|did~nothing~wrong)|holocaust~(?:never~happened|(?:is|was)~a~(?:lie|hoax)))\b
  0.85 auslander,fluchtlinge,juden,muslime,moslems,schwule,schwulen,turken,zigeuner,neger,kanaken,pack,asylanten,migranten,frauen,behinderte
    \b(?:@~raus\b|(?:alle~|die~|diese[sr]?~|solche~|(?:scheiß|scheiss)~?|dreckige~){0,2}@~(?:sind|gehort|gehoren|mussen|mussten|sollen|sollten)~(?:(?:alle|doch|nur|einfach|alles|ein|eine)~){0,2}(?:\p{L}{1,14}~){0,2}?(?:abschaum|ungeziefer|dreck|parasiten|vergast|abgeschoben|erschossen|(?:weg|raus)(?!~(?:von|aus)\b)|minderwertig|kriminelle|verbrecher|untermenschen|eingesperrt|an~den~herd|schuld))
  0.85 arabes?,juifs?,noirs?,immigres?,etrangers?,musulmans?,homosexuels?,pedes?,migrants?,roms,femmes,negres?,tsiganes?
    \b(?:(?:sales?|mort~aux|dehors~les|a~mort~les)~@|les~@~(?:sont|devraient|doivent|n['’]ont)~(?:tous~|toutes~|que~)?(?:inferieure?s|rien~a~faire|(?:des~|etre~|du~|de~la~|une~)(?:tous~|toutes~)?(?:voleurs|parasites|criminels|terroristes|ordures|animaux|betes|racaille|vermine|race~inferieure|expulses|tues|brules|extermines|peste|plaie)(?!\p{L})))
  0.85 moros?,inmigrantes?,maricones?,judios?,negros?,gitanos?,musulmanes?,sudacas?,extranjeros?,migrantes?,gays?,mujeres,immigrati,stranieri,ebrei,zingari,negri,imigrantes,pretos,judeus
    \b(?:(?:malditos~|putos~|sucios~|sporchi~|muerte~a~los~|fuera~(?:los~)?|fuori~(?:gli~|i~)?|morte~(?:aos|agli)~|fora~(?:os~)?)@|(?:los|las|todos~los|gli|i|os|le)~@~(?:son|deben|deberian|sono|devono|sao|devem)~(?:todos~|unos~|unas~|tutti~|uma?~|una~|ser~|essere~){0,3}(?:ladrones|delincuentes|basura|plaga|parasitos|escoria|criminales|violadores|terroristas|inferiores|expulsados|exterminados|animales|ladri|parassiti|criminali|feccia|animali|espulsi|inferiori|lixo|ladroes|bandidos|parasitas)|@~de~mierda)
  0.85 чурки,хачи,жиды,жидов,понаехали,черномазые,мигранты,евреи,геи
    (?<!\p{L})(?:(?:чурки|хачи|жиды|черномазые)|(?:смерть|бей)~(?:жидам|жидов)|(?:мигранты|евреи|геи)~(?:это~|все~)?(?:мусор|паразиты|нелюди|твари|звери|скот|мразь))
`,
);

const BODY =
  '(?:legs?|arms?|necks?|faces?|skulls?|heads?|throats?|teeth|bones?|fingers|kneecaps?|brains?|guts|nose|jaws?|ribs|heart|eyes|tongue|hands|belly|stomach|chest)';
const SUBJECT =
  "\\b(?:i|we|imma|ima)(?:~will|['’]ll|ll|~am~(?:going~to|gonna|about~to)|['’]?m~(?:going~to|gonna|about~to|coming~to)|['’]re~(?:going~to|gonna)|~are~(?:going~to|gonna)|~gonna|~want~to|~wanna|~swear(?:~to~god)?~i(?:~will|['’]ll)|~plan~to|~would~(?:love|like)~to|['’]d~(?:love|like)~to|~could|~should)?~";
const VICTIM =
  "(?:you|u|ya|him|her|them|y['’]?all|everyone|everybody|all~of~(?:you|them)|you~all|that~(?:guy|man|woman|bitch|bastard|son|kid|girl|boy|teacher|cop)|this~(?:guy|man|woman|bitch|bastard)|your~(?:\\p{L}{1,10}~)?(?:kids?|child|children|family|wife|husband|mother|mom|mum|father|dad|son|daughter|sister|brother|dog|cat|friends?|girlfriend|boyfriend|parents)|my~(?:\\p{L}{1,10}~)?(?:boss|wife|husband|ex|neighbou?rs?|teacher|mother|father|brother|sister|girlfriend|boyfriend|coworkers?|roommate|landlord|manager)|people|those~people|every~(?:single~|last~)?(?:one|person|\\p{L}{2,12})~(?:of~(?:you|them)|in~(?:this|that|there)))";

const VIOLENCE = turnsOf(
  'violence',
  String.raw`
  0.85 make
    ${SUBJECT}(?:\p{L}{1,12}~)?@~(?:you|him|her|them)~(?:bleed|suffer|scream(?!~with\b)|beg|pay~for~(?:it|this|what)|wish~(?:you|he|she|they)~(?:were|was)~dead|regret~(?:it|this|the~day|being))\b
  0.85 shot,hanged,executed,gassed,burned alive,killed
    \b(?:they|you|he|she|all~of~(?:them|you))~(?:should|must|deserve~to|need~to|ought~to)~(?:all~|both~)?be~(?:all~)?(?:(?:lined~up|taken~out|rounded~up|dragged~out)~and~)?@\b(?!~(?:in|on|with|by|from|at)\b)
  0.9 blow up,bomb,burn down,shoot up,torch
    (?:${SUBJECT}|(?:^|[.!?\n]\s{0,4})(?:gonna|going~to|about~to)~)(?:\p{L}{1,10}~){0,2}?@~(?:the|this|that|your|his|her|my)~(?:\p{L}{2,14}~)?(?:courthouse|court|police~station|bank|library|bridge|stadium|plane|factory|club|bar|city~hall|parliament|campus|parade|concert)\b
  0.85 see
    \b(?:you|he|she|they)~won['’]t~(?:live~to~)?@~(?:tomorrow|the~(?:morning|sunrise|end~of)|christmas|another~(?:day|morning|sunrise)|your~(?:kids|family|wife|children)~again|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b
  0.9 kill,murder,stab,strangle,slaughter,behead,cripple,torture,rape,butcher,gut,suffocate,poison,drown,bury,execute,assassinate,lynch,skin,choke,gun down,beat the (?:shit|crap|hell|life) out of,beat up,hang,burn
    ${SUBJECT}…@~${VICTIM}(?![\p{L}'’])(?!~(?:an?~(?:coffee|beer|drink|cd|dvd|copy|disc)|out~with|back|up~with|at~(?:scrabble|chess|poker|cards|tennis|golf|monopoly|fifa))\b)
  0.9 shoot
    ${SUBJECT}…@~(?:up~)?${VICTIM}(?![\p{L}'’])(?!~(?:an?|the|some|over|back|another|my|our|your|this|that|quick|down~an?)~)
  0.85 hurt,beat,punch,destroy,end,attack,assault,ambush,injure,maim,mutilate,harm,slap,smack,kick,hit,strike,smash,crush,bash,hunt
    \b(?:i|we)(?:~will|['’]ll|~(?:am|are)~(?:going~to|gonna)|['’](?:m|re)~(?:going~to|gonna)|~gonna|~want~to|~swear~i~will)~(?:really~|badly~|so~)?@~(?:you|him|her|them|your~(?:kids?|family|children|wife|mother|daughter|son))(?![\p{L}'’])(?!~(?:at|to\b(?!~(?:death|a~pulp))|in|with|on|by|next|this|again|there|up|out|off|from|back)\b)
  0.9 kill,shoot,beat,burn,hurt,stab,murder,break,smash,slit,cut,rip,tear,crush,bash,punch,kick,stomp,blow,chop,carve,slice,bust,snap,cave,put a bullet,knock
    ${SUBJECT}(?:\p{L}{1,12}~){0,3}?@~(?:off~|out~|in~|open~|through~)?(?:your|his|her|their|ur|that~\p{L}{2,14}['’]s|every~bone~in~(?:your|his|her))~(?:\p{L}{1,10}~)?(?:${BODY}|body)(?!\p{L})(?<!break[\s,]{1,4}(?:your|his|her|their)[\s,]{1,4}heart)
  0.85 bullet
    \b(?:put|puts|putting|fire|plant|with)~(?:a|one|this|the)~@~(?:in|into|through|between|right|straight)~
  0.9 burn,torch,blow up,bomb,set fire to,shoot up,firebomb,attack
    ${SUBJECT}…@~(?:down~|up~)?(?:your|the|this|that|his|her|their|my|a)~(?:\p{L}{2,14}~)?(?:house|home|shop|store|school|office|building|church|mosque|synagogue|temple|car|place|station|airport|embassy|hospital|mall|train|bus)\b(?!~(?:page|screen|market|office|segment)\b)
  0.9 bring,bringing,take,taking
    \b(?:i|we)(?:~am|['’]m|~will|['’]ll|~are|['’]re)~(?:going~to~|gonna~)?@~(?:a|my|the|an)~(?:(?!(?:bread|butter|cake|cheese|glue|heat|kitchen|nail|palette|spray|toy|water)~)\p{L}{2,10}~)?(?:gun|knife|bomb|rifle|weapon|machete|pistol|ar-?15)~(?:to|into)\b
  0.85 everyone,everybody,all of you,you all,up the school,up a school,the whole
    \b(?:going~to~shoot|gonna~shoot|will~shoot|start~shooting|and~shooting|gonna~kill|going~to~kill|will~kill|murder|stab|slaughter)~@\b
  0.85 bomb,bombs,explosives
    \b(?:there(?:['’]s|~is|~are)~(?:an?~)?@~(?:in|at|under|inside)|(?:i|we)(?:~have|['’]ve)~(?:planted|placed|hidden)~(?:an?~)?@|(?:i|we)(?:~will|['’]ll)~(?:detonate|plant)~(?:an?~|the~)?@)
  0.85 should,deserves?,ought to,needs? to,has to
    \b(?:someone|somebody|people|we|they|you)~(?:really~)?@~(?:just~|really~|finally~|go~and~)?(?:kill|stab|shoot|murder|strangle|behead|lynch|hang|execute|assassinate|torture|beat|burn|hurt)~(?:him|her|them|you|that|this|the|all|every|those|these)\b(?!~(?:at|dead~horse|horse|drum|calories|candle|oil|process|picture|photo|video|scene|egg|traffic|record|score|team|price|deal)\b)|\b(?:he|she|they|you|it~all|that~\p{L}{2,14}|this~\p{L}{2,14}|those~\p{L}{2,14}|all~\p{L}{2,14})~(?:all~|really~|just~|both~)?@~(?:to~)?(?:be~(?:all~)?(?:killed|shot|stabbed|hanged|beaten|burned~alive|beheaded|strangled|murdered|tortured|executed|lynched|raped)|die\b(?!~(?:down|out|rich|happy|peacefully|in~peace|with~dignity|at~home)\b)|a~bullet)
  0.85 beat,lynch,hang,kill,shoot,stab,stone,jump
    \blet['’]?s~(?:go~|all~)?@~(?:up~)?(?:him|her|(?:this|that|those|these|the|some)~(?:\p{L}{2,12}~)?(?:kid|guy|girl|boy|bitch|bastard|man|woman|freak|traitor|cop|teacher|nerd|fag|loser|idiot)s?)\b
  0.85 to death,to a pulp,until,till
    \b(?:beat|kick|stomp|hit|stab|punch|whip)~(?:\p{L}{1,12}~){1,4}?@~?(?:(?:he|she|they|you)~(?:stops?~(?:screaming|breathing|moving|begging)|can['’]t~(?:walk|breathe|move|see)|bleeds?|dies?|begs?))?(?<=to[\s,]{1,4}(?:death|a[\s,]{1,4}pulp)|(?:screaming|breathing|moving|begging|walk|breathe|move|see|bleeds?|dies?|begs?))
  0.85 die,bleed,pay,dead,watch your back,where you,where your,your days,your last,hunt you,come,coming,something happened,anything happened,eye,regret being,won['’]t live,won['’]t survive,won['’]t see,in the river,wish you were never,beg for
    \b(?:(?:you|u|they|he|she)(?:~will|['’]ll|~are~going~to|['’]re~going~to|['’]re~gonna|~gonna)~(?:all~|soon~)?(?:die(?=\s*(?:$|[.!,?;\n]|and\b|bitch\b|for\b|if\b|in~(?:agony|hell|pain)|like\b|painfully|screaming|slowly|soon\b|to(?:day|morrow|night)\b))|bleed(?!~to)|pay~with~(?:your|their|his|her)~li(?:fe|ves)|regret~being~born|beg~for~(?:mercy|death|your~life))|you(?:['’]re|~are)~(?:already~|so~|fucking~)?dead(?=\s*(?:$|[.!,?]|man\b|meat\b|to~me))(?!~(?:right|wrong|to~me)\b)|watch~your~back(?!~(?:as|when|while)~(?:you~)?(?:bend|carry|garden|lift|mov|shovel|sit))|(?:i|we)~know~where~(?:you|your~(?:kids?|children|family|wife|husband|mother|mom|daughter|son|parents))~(?:lives?|goes?|works?|sleeps?|parks?)|your~days~are~(?:numbered|counted)|your~last~(?:day|breath|warning)~?(?=$|[.!]|on~earth|alive|before)|hunt~(?:you|him|her|them)~down|(?:come|coming)~(?:after|for)~(?:you|your~(?:family|kids|children))(?=\s*(?:$|[.!,]|and\b|tonight\b|tomorrow\b))(?<=(?:i|we|['’]m|['’]re|['’]ll|am|are|will)[\s,]{1,4}com.{1,30})|(?:shame|pity|unfortunate|sad)~if~(?:something|anything)~(?:bad~)?happened~to|sleep~with~one~eye~open|you~won['’]t~(?:live|survive|see~(?:tomorrow|the~morning|the~end))|(?:your|his|her)~body~in~the~(?:river|lake|woods|ditch))
  0.85 umbringen,umbringe,bringe,bring,bringen,schlagen,stechen,tote,toten,absteche,abstechen,erschieße,erschießen,erschiesse,erschiessen,schlage,schlag,totschlagen,steche,fertigmachen,fertig,verprugle,verprugeln,vergewaltige,anzunden,verbrennen,vernichte,kaputt
    \b(?:ich|wir)~(?:(?:werden?|will|wollen|wurden?|schworen?|mache?n?|bringe?n?|schlage?n?|steche?n?|finden)~)?(?:(?:dich|euch|ihn|sie|dir|deine|den|diese)~)?(?:\p{L}{1,14}~){0,4}?@(?:[\s,]{1,4}(?:dich|euch|ihn|sie|dir))?(?:~(?:\p{L}{1,12}~){0,3}?(?:um|tot|ab|fertig|zusammen|kaputt))?(?<=(?:dich|euch|ihn|sie|dir|deine).{0,60})(?<=umbringen|toten|abstechen|erschie(?:ß|ss)en|totschlagen|fertigmachen|verprugeln|anzunden|verbrennen|bring(?:en?)?\b.{1,40}um|schlag(?:en?)?\b.{1,40}(?:tot|zusammen)|stech(?:en?)?\b.{1,40}ab|mach(?:en?)?\b.{1,40}(?:tot|kaputt)|(?:tote|erschie(?:ß|ss)e|verprugle|vergewaltige|vernichte)[\s,]{1,4}(?:dich|euch|ihn|sie))(?!\p{L})(?!~(?:\d{1,2}|eins?|zwei|drei|vier|funf|sechs|sieben|acht|neun|zehn|elf|zwolf|halb|viertel|kurz|mittag|mitternacht)\b)
  0.85 du bist tot,wo du wohnst
    \b(?:du~bist~(?:so~gut~wie~)?tot(?=\s*(?:$|[.!,]))|(?:ich|wir)~(?:weiß|weiss|wissen)~wo~du~wohnst)
  0.85 tuer,buter,egorger,crever,defoncer,massacrer,frapper,mourir,le payer,bruler,casser la,peter la,exploser
    \b(?:(?:je~vais|on~va|nous~allons)~(?:te|vous|le|la|les|tous~vous|lui)~(?:\p{L}{1,12}~)?@|tu~vas~(?:crever|mourir|me~le~payer|le~payer))(?!\p{L})
  0.85 matar,pegar,quemar,reventar,partir la,degollar,romper,morir,matarte,matarlo,matarla,donde vives,donde vive,bater,quebrar,onde voce mora,ammazz,uccid,spacc,fuori,abiti
    \b(?:(?:te|os|lo|la|los|les)~(?:voy|vamos)~a~(?:\p{L}{1,12}~)?@(?!(?<=\bl[oa]s?~(?:voy|vamos)~a~(?:pegar|quemar|romper))~\p{L})(?!(?<=pegar)~(?:el|los|las|aqui)\b)|vas~a~morir|voy~a~(?:matarte|matarlo|matarla)|se~donde~vives?|vou~te~(?:\p{L}{1,12}~)?(?:matar|bater|quebrar|pegar)|vou~(?:matar|quebrar)~voce|sei~onde~voce~mora|(?:ti|vi)~(?:ammazz|uccid|spacc)\p{L}{1,4}|(?:ti|vi)~faccio~fuori|so~dove~abiti)(?!\p{L})
  0.85 dood,kapot,vermoord,neersteek,neersteken,afmaken,zabije,убью,зарежу,тебе конец,где ты живешь
    (?<!\p{L})(?:ik~(?:maak|ga|sla|steek|schiet|zal)~(?:je|jou|jullie|hem|haar)~(?:\p{L}{1,10}~)?(?:dood|kapot|vermoorden|neersteken|afmaken|doodmaken|doodschieten|doodslaan)|ik~vermoord~(?:je|jou|hem|haar)|zabije~cie|(?:я~)?тебя~(?:убью|зарежу)|(?:убью|зарежу)~(?:тебя|вас|его|ее)|тебе~конец|знаю~где~ты~живешь)
`,
);

const SELF_HARM = turnsOf(
  'self-harm',
  String.raw`
  0.85 jumping off,jumping from,jumping in front,throwing myself,drowning myself
    \b(?:i|i['’]m|im|i['’]ve)~(?:\p{L}{2,10}~){0,3}?(?:think(?:ing)?|thought|dream(?:ing)?|fantasi[sz]ing|fantasi[sz]e)~(?:about|of)~@\b
  0.8 cut my
    \bi~(?:(?:have~)?relapsed~and~)?(?:have~|just~)?@~(?:arms?|wrists?|thighs?)\b(?!~(?:on|by|while|with~a~(?:can|piece))\b)
  0.85 selbstmord,suizid,aguanto,desaparecer,mourir
    \b(?:denke~(?:\p{L}{2,10}~){0,4}?(?:an|uber)~(?:selbstmord|suizid)|no~aguanto~mas~(?:vivir|esta~vida|la~vida)|quiero~desaparecer|j['’]ai~envie~de~mourir)\b
  0.9 myself,my life,my own life,it all,everything,wake up,exist,existing,disappear,alive,die,dead,live
    \b(?:i|i['’]m|im|i['’]ve|i['’]d)~(?:(?!don['’]t|do~not|never)\p{L}{1,14}['’]?\p{L}{0,2}~){0,5}?(?:want(?:ed|ing)?|wish|going|gonna|plan(?:ning|ned)?|thinking|thought|try(?:ing)?|tried|ready|decided|rather|tempted|prefer|hope)~(?:(?:to|of|about|i|were|was|be|just|could|would|it|ways?|how|on|really|going|go|lately|again)~){0,5}(?:(?:kill|killing|hang|hanging|shoot|shooting|drown|drowning|harm|harming|cut|cutting|burn|burning|starve|starving|hurt|hurting|poison|off|offing|end|ending)~(?:myself|it~all|everything|my~(?:own~)?life(?!\p{L}|~(?:insurance|savings|story)))|(?:end|ending|take|taking)~(?:it~all|my~(?:own~)?life(?!\p{L}|~(?:insurance|savings|story))|everything)|die(?![\p{L}])(?!~(?:of|laughing|for|on~(?:this|that)~hill|happy|peacefully|my~hair|than~(?:eat|miss|pay|use|watch|wear))\b)|dead(?![\p{L}-])|not~(?:to~)?(?:wake~up|exist|be~alive|live)|(?:disappear|vanish)~forever|never~wake~up|stop~existing)
  0.9 end it all,end my life,end my own life,take my life,take my own life,kill myself,killing myself,kill yourself,hang myself,hang yourself,slit my,slit your,commit suicide,committing suicide,suicide note,suicide pact,die by suicide,kys,overdose on purpose,off myself,drown myself,shoot myself
    \b(?:end~it~all|(?:end|take)~my~(?:own~)?life(?!~(?:insurance|savings|story))|kill(?:ing)?~(?:myself|yourself)(?!~(?:with~work|laughing|over~this)\b)|hang~(?:myself|yourself)(?!~an?~)|slit~(?:my|your)~(?:wrists?|throat)|committ?(?:ing)?~suicide|suicide~(?:note|pact)|kys|overdose~on~purpose|off~myself|drown~myself|shoot~myself(?!~in~the~foot))\b
  0.85 anymore,any more,any longer,like this,want to live,want to be alive,want to wake up,want to exist,keep living
    \b(?:i~)?(?:don['’]?t|do~not|no~longer|cannot|can['’]?t|can~not)~(?:\p{L}{2,10}~)?(?:want~(?:to~)?(?:live|be~alive|wake~up|exist|be~here|keep~living|carry~on~living)~?(?:any ?more|any~longer|tomorrow|again|like~this)?|(?:go~on|live|carry~on|keep~going|keep~living)~(?:living~)?(?:like~this~)?(?:any ?more|any~longer|like~this))(?=\s*(?:$|[.!,;?)\n"]|and\b|so\b|because\b|i\b|any\b|in~this~world))
  0.85 to live,to keep living,living,to be alive
    \b(?:no|any|without~(?:a|any)|lost~(?:the|my|all)|nothing)~(?:reason|will|point|wish|desire|left)?~?(?:in~|for~me~|for~)?@(?=\s*(?:$|[.!,;?]|any|for\b|if\b))|\blife~(?:is~not|isn['’]t|is~no~longer|isnt)~worth~@
  0.85 if i was,if i were,if i died,if i disappeared,without me,when i am gone,if i am gone
    \b(?:no~?(?:one|body)~(?:would|will|['’]d)~(?:even~|really~)?(?:miss|notice|care)(?:~me)?~@(?:~(?:dead|gone|not~here))?|(?:better|happier)~off~?(?:without~me|if~i~(?:was|were|died|disappeared)(?:~(?:dead|gone))?|when~i~am~gone))
  0.85 better off dead,wish i was,wish i were,wish i had never,wish i could,never been born
    \b(?:better~off~dead|wish~i~(?:was|were)~(?:dead|never~born|not~alive)|wish~i~(?:had~never|was~never|were~never|['’]d~never)~(?:been~)?born|wish~i~could~(?:die|disappear~forever|just~die|stop~existing|never~wake))\b
  0.9 cutting,burning,hurting,harming,starving,scratching,hitting,cut
    \b(?:(?:been|started|start|keep|kept|stop|back~to|about|of|am|i['’]m|urge~to)~(?:\p{L}{2,10}~)?@|urge~to~cut)~(?:myself|my~(?:arms?|wrists?|thighs?|legs?|skin|body))(?!~(?:off|short|some|a|shaving)\b)
  0.85 suicidal,suicide,self-harm,self harm,selfharm
    \b(?:i(?:~am|['’]m|~feel|~have~been|['’]ve~been)~(?:feeling~)?(?:so~|really~|very~)?suicidal|(?:think(?:ing)?|thought|dream(?:ing)?)~(?:about|of)~(?:my~|committing~|doing~|trying~)?suicide(?<=(?:i|i['’]m|am|im|been|keep|was)[\s,].{1,50})|(?:i|i['’]ve|i~have)~(?:have~|been~|want~to~|started~to~|started~|need~to~)?(?:suicidal~thoughts|(?:self(?:-|~)?harm(?:ed|ing)?)~?(?:again|every|last|tonight|today|since|for))|suicide~is~(?:the~only|my~only|the~best|the~answer))
  0.85 painless,painlessly,least painful,lethal,fatal,easiest,quickest,how many,how much,best
    \b(?:how~(?:many|much)~(?:\p{L}{2,14}~){1,8}?(?:to~die|to~kill~(?:myself|me|yourself)|to~overdose|lethal|fatal(?:ly)?|before~i~die|painlessly)|(?:painless|least~painful|easiest|quickest|fastest|best|peaceful|cleanest)~(?:\p{L}{2,10}~){0,3}?(?:to~die|to~kill~(?:myself|yourself)|to~commit|to~end~(?:it|my)|of~(?:suicide|killing~myself))|die~painlessly)
  0.85 jump off,jump from,jumping off,jump in front,all the pills,all my pills,whole bottle of,bottle of pills,in front of a train,in front of the train
    \b(?:i(?:~am|['’]m|~will|['’]ll|~want|~wanna|~might|~just~want|~should)~(?:\p{L}{1,10}~){0,3}?(?:jump(?:ing)?~(?:off|from|in~front~of)~(?:a|the|this|my)~(?:\p{L}{2,12}~)?(?:bridge|roof|building|balcony|cliff|train|bus|ledge|tower|truck)|(?:take|swallow)~(?:all~(?:the|my)~pills|the~whole~bottle|a~bottle~of~pills))|(?:took|swallowed|taken)~(?:all~(?:the|my)~pills|the~whole~bottle))
  0.75 goodbye,never wake up,not wake up,hate myself
    \b(?:goodbye~(?:cruel~world|forever~everyone)|(?:go~to~sleep|fall~asleep|sleep)~and~(?:never|not)~wake~up|i~(?:really~|just~)?hate~myself~?(?:and|so~much|for~(?:being|existing)|more~every))\b
  0.9 nicht mehr leben,nicht mehr aufwachen,nicht mehr da sein,nicht weiterleben,umbringen,umzubringen,bringe mich um,bring mich um,ritze,ritzen,selbstmord,suizid,will sterben,mochte sterben,tot ware,ware tot,das leben nehmen,erhangen,aufhangen,vor den zug
    \b(?:(?:will|mochte|wollte|kann)~(?:\p{L}{1,10}~){0,2}?nicht~(?:mehr~(?:leben(?!~(?:auf|bei|hier|in|wie)\b)|aufwachen|da~sein|weiterleben)|weiterleben)|mich~(?:\p{L}{1,12}~){0,3}?(?:umbringen|umzubringen|toten|ritzen|erhangen|aufhangen)|(?:ich~)?bringe?~mich~(?:\p{L}{1,12}~){0,2}?um\b|(?:ich~)?ritze~mich|(?:begehe|mache)~(?:\p{L}{1,10}~)?(?:selbstmord|suizid)|ich~(?:\p{L}{1,10}~){0,2}?(?:selbstmord|suizid)~(?:begehen|machen)|(?:ich~)?(?:will|mochte)~(?:\p{L}{1,10}~){0,2}?sterben|wunschte~ich~ware~tot|ich~ware~(?:lieber~)?tot|mir~das~leben~(?:zu~)?nehmen|mich~vor~den~zug)
  0.9 mourir,suicider,tuer,pendre,scarifie,en finir,envie de vivre,fin a mes jours,plus de sens,plus vivre
    \b(?:je~(?:veux|voudrais|vais|souhaite)~(?:juste~|vraiment~)?(?:mourir|me~(?:suicider|tuer|pendre)|en~finir)|me~suicider|(?:je~)?me~scarifie|(?:je~)?(?:n['’]ai~)?plus~(?:aucune~|l['’])?envie~de~vivre|mettre~fin~a~mes~jours|la~vie~n['’]a~plus~(?:de|aucun)~sens|(?:veux|peux)~plus~vivre(?!~(?:a|au|aux|chez|dans|en|ici)\b)|en~finir~avec~(?:la|ma)~vie)(?!\p{L})
  0.9 morir,morirme,matarme,suicidarme,quitarme la vida,acabar con,vivir,viviendo,cortarme,morire,uccidermi,farla finita,ammazzarmi,vivere,morrer,me matar,viver,minha vida
    \b(?:(?:quiero|voy~a|deseo|pienso|quisiera|ganas~de)~(?:morir|morirme|matarme|suicidarme|quitarme~la~vida|acabar~con~(?:todo|mi~vida)|cortarme)(?!~de~(?:risa|hambre|la~risa))|no~quiero~(?:seguir~)?(?:vivir|viviendo)(?=\s*(?:$|[.!,]|mas\b|asi\b))|quitarme~la~vida|sin~ganas~de~vivir|voglio~(?:solo~)?(?:morire|uccidermi|farla~finita|ammazzarmi)|non~voglio~piu~vivere|quero~(?:so~)?(?:morrer|me~matar)|vou~me~matar|nao~quero~mais~viver|acabar~com~a~minha~vida)(?!\p{L})
  0.9 niet meer leven,wil dood,zelfmoord,mezelf,умереть,не хочу жить,не хочу больше жить,покончить с собои,убить себя,убью себя,umrzec,sie zabic,想死,不想活,自杀,死にたい,自殺,죽고 싶
    (?<!\p{L})(?:ik~wil~(?:\p{L}{1,10}~){0,2}?(?:dood|niet~meer~leven|sterven)|(?:pleeg|ga)~(?:\p{L}{1,10}~)?zelfmoord|zelfmoord~plegen|mezelf~(?:\p{L}{1,10}~){0,2}?(?:van~kant|doden|snijden|ophangen)|хочу~(?:\p{L}{1,10}~)?умереть|не~хочу~(?:больше~)?жить|покончить~с~собои|уби(?:ть|ю)~себя|chce~(?:umrzec|sie~zabic))|我想死|不想活|想自杀|死にたい|自殺したい|죽고~싶
`,
);

const SEXUAL_BODY =
  '(?:pussy|dick|cock|clit|tits|titties|boobs|breasts|nipples|balls|ass|naked~body|thighs|penis|vagina|cunt|butt)';

const SEXUAL = turnsOf(
  'sexual',
  String.raw`
  0.85 cock,dick,pussy,penis,clit,nipples,vagina
    \b(?:around|on|against|into|inside|in|onto)~(?:his|her|my|your)~(?:\p{L}{3,10}~)?@\b
  0.85 tits,boobs,dick,cock,pussy,nipples,nudes
    \b(?:show|flash|send|see|want)~(?:me~|us~|to~see~)?(?:your|her|his)~@\b
  0.85 touching myself,touch myself,entered her,entered him,entered me
    \b(?:touch(?:ing)?~myself~(?:and|while|thinking|to|for|tonight)|entered~(?:her|him|me)~(?:slowly|from~behind|gently|deep(?:ly)?|hard))\b
  0.85 came,cum,cums,cumming
    \b@~(?:all~)?(?:over|inside|in|on)~(?:her|his|my|your)~(?:face|mouth|chest|tits|back|belly|ass)\b
  0.85 blow ?jobs?,blowjobs?,hand ?jobs?,handjobs?,porn,porno,pornhub,pornography,hardcore sex,nudes,horny,masturbat,orgasms?,orgasmic,anal sex,oral sex,threesome,gangbang,gang bang,cumshot,creampie,deepthroat,deep throat,hentai,fuckbuddy,fuck buddy,dick pics?,jerking off,jerk off,jack off,jacking off,wank off,wanking,sexting,sex tape,sex toys?,sex slave,sex chat,camgirl,nsfw,smut,milf,cumming,sex scene,sex story,sex stories,erotica,sex partner,sexual fantas,strip tease,striptease,naked girls,naked women,naked teens,naked pictures,naked photos,naked pics,nude pictures,nude photos,nude pics,escort service,wet pussy,hot sex,wild sex,rough sex,kinky,steamy
    \b(?:blow ?jobs?|hand ?jobs?|(?:free~|hot~|hardcore~|gay~|watch~|best~|live~)?porn(?:o|os|hub|ography)?|hardcore~sex|(?:send|post|trade|leak|share|sell|want|see|your|her|hot|some|more)~(?:me~)?(?:your~|some~|her~|the~)?nudes|(?:so|feel(?:ing)?|am|i['’]m|im|really|super|me|always|hot~and|you)~horny|horny~(?:\p{L}{2,10})|horny|masturbat(?:e|es|ed|ing|ion)|orgasms?|anal~sex|oral~sex|threesomes?|gang ?bang(?:ed)?|cumshots?|creampies?|deep~?throat(?:ed|ing)?|hentai|fuck ?buddy|dick~pics?|(?:jerk|jack|wank)(?:ing)?~off|sexting|sex~(?:tape|toys?|slaves?|chat|cam|partner~(?:tonight|wanted))|camgirls?|nsfw~(?:story|stories|pics?|content|images?|videos?|roleplay|scene|chat)|(?:write|some|read|explicit|filthy)~(?:me~)?smut|milfs?|cumming|(?:explicit|graphic|steamy|hot|hardcore|detailed|dirty|erotic)~(?:sex(?:ual)?~)?(?:scene|stor(?:y|ies)|roleplay)~?(?:with|about|between|of|where|in~which)?(?<=sex.{1,30}|explicit.{1,30}|erotic.{1,30}|steamy.{1,20}|dirty[\s,]{1,4}(?:stor|role).{1,20})|erotica|sexual~fantas(?:y|ies)|strip ?tease|(?:naked|nude)~(?:girls|women|teens|boys|pictures|photos|pics)(?:~of)?|hot~teens|escort~service|wet~pussy|(?:hot|wild|rough|kinky)~sex|kinky~(?:\p{L}{2,10}))\b
  0.85 erotic,explicit,sexually explicit,nsfw,lewd,pornographic
    \b(?:write|tell|give|generate|create|describe|make|draw|show|want)~(?:\p{L}{1,12}~){0,4}?@~(?:\p{L}{1,12}~){0,3}?(?:story|stories|scene|novel|poem|fiction|fanfic(?:tion)?|roleplay|chat|picture|image|video|sex|details?|content|fantasy|massage)\b
  0.85 suck,lick,fuck,ride,finger,stroke,eat,kiss,spread,grab,squeeze,spank,rub,touch,fondle,jerk,f.ck
    \b@(?:s|ed|ing|king|bing|ging)?~(?:on~|between~|out~|up~|every~inch~of~|all~over~)?(?:my|your|her|his|that|ur|those|these)~(?:\p{L}{2,10}~){0,2}?${SEXUAL_BODY}\b(?!~(?:off|cancer|exam)\b)
  0.85 cock,dick,pussy,penis,clit,nipples,tits,boobs
    \b(?:hard|wet|throbbing|erect|huge|tight|thick|juicy|big|perky|stiff|dripping)~@\b(?!~(?:willows?|foot|cat)\b)|\b@~(?:in(?:side)?~(?:my|your|her|his)~(?:mouth|ass|pussy|throat)|deep~inside)
  0.85 sex
    \b(?:have|had|having|want|wants|wanna~have|want~to~have|let['’]?s~have)~(?:(?!safe|unprotected|protected|not|never|no)\p{L}{1,10}~){0,2}?@~(?:with~(?:me|you|her|him|us|that|a~stranger|strangers|my~\p{L}{2,12})|tonight|now|all~night|right~now|again|together|on~the~\p{L}{2,10}|in~the~(?:car|shower|kitchen|office|back))(?!\p{L})
  0.85 thrust,thrusts,thrusting,thrusted,moan,moaned,moans,moaning,panting
    \b(?:thrust(?:s|ing|ed)?~(?:\p{L}{1,10}~){0,2}?(?:inside|into|deep|deeper)~(?:\p{L}{1,10}~)?(?:her|him|me|you)|(?:she|he|i|her|his|and)~moan(?:ed|s|ing)?~(?:as|when|while|with~(?:pleasure|delight)|softly|loudly|his~name|her~name|my~name|into)|moan(?:ed|ing|s)?~(?:with|in)~pleasure)
  0.85 skirt,dress,panties,pants,shirt,blouse,bra,thighs?,underwear,boxers,lingerie,thong,legs,breasts,jeans,undress,unbuttoned,unzipped,unhooked
    \b(?:(?:slid|slide|slides|sliding|put|puts|hand|hands|fingers?|tongue|face|head|mouth|ran|moved|kissed|kiss|kissing|pushed|buried)~(?:\p{L}{1,10}~){0,4}?(?:between~(?:her|his|my|your)~(?:legs|thighs|breasts)|(?:under|up|down|inside)~(?:her|his|my|your)~(?:skirt|dress|panties|pants|shirt|blouse|bra|thighs?|underwear|boxers))|(?:took|take|takes|pulled|pull|ripped|tore|slipped|slip)~(?:\p{L}{1,10}~){0,2}?(?:off|down)~(?:her|his|my|your)~(?:bra|panties|thong|underwear|boxers|lingerie)|undress(?:es|ed|ing)?~(?:me|her|him|you)~|(?:unbuttoned|unzipped|unhooked)~(?:her|his|my)~(?:blouse|bra|dress|pants|jeans|skirt))
  0.85 naked
    \b(?:your|her|his|my)~@~(?:body|skin|breasts|ass|chest|thighs)|\b(?:want|see|picture|imagine|get|you|me)~(?:\p{L}{1,10}~){0,2}?@~(?:in~(?:my|your|the|our)~bed|on~(?:my|your|top)|for~me|tonight|with~me|and~(?:wet|ready|on))
  0.85 inside me,in me tonight,make me cum,makes me cum,makes me wet,make me wet,so wet,so hard for,fuck me,fuck you hard,f.ck me,take me hard,ride me,cum on,cum in,cum for,bend over,bend you over,eat me out,go down on
    \b(?:(?:want|need|feel)~(?:you|u|it|him|her)~(?:deep~|so~bad~)?(?:inside|in)~me|makes?~me~(?:so~)?(?:cum|wet|hard|horny)|(?:i['’]?m|so|am)~(?:so~)?(?:wet|hard)~for~(?:you|u)|fuck~me~(?:hard|harder|now|tonight|please|baby|daddy|like|all|in)|fuck~you~(?:hard|so~hard|all~night|senseless|from~behind)|take~me~hard|ride~(?:me|you)~(?:hard|all~night)|cum~(?:on|in|for|inside)~(?:me|my|you|your|her|his)|bend~(?:you~|her~|me~)?over~(?:and|the|my|for)~|eat~me~out|go~down~on~(?:me|you|her|him))(?!\p{L})
  0.85 ficken,fick mich,schwanz,muschi,titten,nacktbilder,porno,pornos,blasen,geil auf,fotze,nackt
    \b(?:(?:dich|mich|sie|uns|zusammen)~(?:\p{L}{1,12}~){0,2}?ficken|fick~mich|(?:meinen|deinen|seinen)~(?:\p{L}{2,12}~)?schwanz~(?:lutsch\p{L}{1,3}|blas\p{L}{1,3}|in)?(?<=lutsch\p{L}{1,3}|blas\p{L}{1,3}|harten.{1,12}|in)|(?:feuchte|nasse|enge)~(?:muschi|fotze)|(?:geile|dicke|große|grosse|pralle)~titten|nacktbilder~(?:von|schick\p{L}{1,4})|(?:schick|sende)~(?:mir~)?(?:\p{L}{2,10}~)?nacktbilder|(?:kostenlose~|geile~)?pornos?\b|geil~auf~dich|dich~(?:\p{L}{1,10}~)?nackt~(?:sehen|in))
  0.85 baise-moi,baise moi,te baiser,suce,sucer,chatte,gros seins,photos nue,photo nue,photos de toi nue,je bande,branl,chupame,mamame,polla,verga,follar,follarte,follame,desnuda,conos?,cachond,scopar,scopami,pompino,foto nuda,foto di te nuda,me fode,te foder,buceta,nudes,punheta,pelada,foto nud
    \b(?:baise(?:-|~)moi|(?:te|la|me)~baiser|suce(?:r)?~(?:ma|ta|sa|moi)~?(?:bite|queue|chatte)?|chatte~(?:mouillee|humide)|gros~seins|photos?~(?:de~toi~)?nues?|je~bande|branl(?:er|e|ette)|(?:chupame|mamame|chupar(?:me|te)?)~(?:la~|mi~)?(?:polla|verga)|(?:quiero|vamos~a|voy~a|quieres)~follar(?:te|me|nos)?|follame|fotos?~(?:tuyas~)?(?:desnud[ao]s?|sin~ropa)|cono~(?:mojado|humedo)|(?:estoy|muy|tan)~cachond[oa]|(?:voglio~)?scopar(?:ti|mi|e)~?(?:con~te|stanotte|tutta)?|scopami|pompino|foto~(?:di~te~)?nud[ae]|me~fode|(?:quero|vou)~te~foder|buceta|(?:manda|envia)~nudes|punheta|gostosa~pelada)(?!\p{L})
`,
);

export const TURNS: readonly Turn[] = [...HARASSMENT, ...HATE, ...VIOLENCE, ...SELF_HARM, ...SEXUAL];
