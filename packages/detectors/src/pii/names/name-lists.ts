/**
 * Words that are names: of persons, places and organisations. Most come with `compromise` (its lexicon; its tagger reads a
 * few kilobytes a second and is not used) and with the International Components for Unicode, which know every country in every
 * language and a city of every time zone; those of other parts of the world are added here.
 */

import type Compromise from 'compromise';
import { once, parserOnDemand } from '../../text/on-demand.ts';
import { wordList } from '../../text/words.ts';

const COMPROMISE = parserOnDemand<typeof Compromise>('compromise');

export interface NameLists {
  /** All in lower case. */
  readonly first: ReadonlySet<string>;
  readonly last: ReadonlySet<string>;
  /** Persons that are known under a whole name. */
  readonly persons: ReadonlySet<string>;
  readonly places: ReadonlySet<string>;
  readonly organisations: ReadonlySet<string>;
  /** Words for who or what is of a nation: `austrian`, `danes`. */
  readonly demonyms: ReadonlySet<string>;
  /** The first words of places and organisations of several words, and how many words the longest has. */
  readonly starts: ReadonlyMap<string, number>;
}

const MORE_FIRST =
  'priya anjali ananya kavya lakshmi meera nisha pooja radhika shreya sunita swati vidya deepika divya neha ritu kiran amit arjun ashok deepak ganesh harish karthik manish mohan nikhil pradeep rahul rajesh rakesh ramesh sanjay sandeep suresh vijay vikram vinod vivek ' +
  'wei jing xiaoming xiaoli mei ling hui fang yan hao jie lei jun bo feng qiang tao ming yong zhen haruto yuki sakura hiroshi kenji takashi akira yoko keiko naoko satoshi haruka aiko daisuke kazuo makoto noriko shinji tomoko yumi minjun seojun jiwoo minji soyeon jihoon hyun eunji sungmin ' +
  'nguyen thanh huong linh tuan duc minh anh hoa somchai siriporn budi siti dewi agus putri nur ' +
  'mohammed muhammad ahmed ahmad fatima aisha khadija omar youssef yusuf hassan hussein mustafa mahmoud khaled tariq layla leila samira noor zainab abdullah ibrahim ismail bilal rashid salma amina rania nadia karim ' +
  'chukwuemeka ngozi chidi emeka adaeze amara ifeoma obinna tunde folake ayodele oluwaseun kwame kofi akosua ama abena wanjiru kamau njeri otieno achieng thabo sipho nomsa lerato zanele themba fatou moussa aminata ousmane mamadou ' +
  'mehmet mustafa ayşe ayse fatma emine hatice elif zeynep murat hakan emre burak cem deniz ' +
  'ivan dmitri dmitry sergei sergey vladimir nikolai mikhail alexei olga natalia svetlana irina tatiana ekaterina anastasia oksana oleksandr volodymyr andriy iryna kateryna piotr krzysztof agnieszka katarzyna małgorzata wojciech tomasz paweł michał łukasz jiří petr zdeněk jana lenka istvan laszlo zsuzsanna katalin ion mihai elena ioana dragan milica goran jelena ' +
  'lars sven bjørn bjorn ingrid astrid søren soren freja mads mikkel lene kirsten henrik jens anders erik gustav linnea elsa saga oskar håkan mikko matti pekka aino kaisa juhani ' +
  'hans jürgen juergen günther guenther klaus dieter heinz wolfgang uwe ulrich matthias stefan thorsten sabine monika ute petra heike birgit anke silke gisela ingeborg lieselotte friedrich wilhelm ' +
  'jean-pierre jean françois francois benoît benoit élodie elodie camille aurélie aurelie amélie amelie océane thibault guillaume mathieu maxime antoine étienne etienne gérard gerard thérèse therese ' +
  'josé jose maría maria juan carlos luis javier alejandro sofía sofia lucía lucia valentina camila ximena guadalupe rosario fernando rodrigo santiago andrés andres joaquín joaquin ignacio beatriz pilar inés ines mercedes concepción ' +
  'giovanni giuseppe francesca chiara giulia alessandro matteo lorenzo luca marco paolo stefano federica elisabetta antonella giorgio ' +
  'joão joao thiago tiago rafaela mariana luciana adriana gustavo henrique vinícius rui duarte catarina ' +
  'willem pieter joost sanne femke lotte bram daan maarten anouk ' +
  'ada grace alan linus edsger barbara margaret dennis ken guido brendan niklaus donald mira';
const MORE_LAST =
  'raghunathan iyer nair menon pillai reddy rao sharma verma gupta singh kaur chopra kapoor malhotra mehta joshi desai shah banerjee chatterjee mukherjee das bose khanna bhat krishnan subramanian venkatesh ' +
  'wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he lin luo tanaka suzuki sato takahashi watanabe ito yamamoto nakamura kobayashi kato yoshida kim lee park choi jung kang cho yoon jang lim tran pham hoang phan ' +
  'okonkwo okafor adeyemi adebayo eze nwosu balogun mensah owusu asante kamau mwangi otieno ochieng ndlovu dlamini nkosi mokoena diallo traoré traore keita ' +
  'hassan hussein khalil haddad nasser mansour saleh farouk rahman siddiqui qureshi malik chaudhry yılmaz yilmaz kaya demir şahin sahin çelik celik öztürk ozturk ' +
  'ivanov petrov sidorov smirnov kuznetsov volkov kowalski nowak wiśniewski wójcik lewandowski zieliński novák novak svoboda horváth horvath nagy kovács kovacs szabó popescu ionescu jovanović petrović shevchenko kovalenko bondarenko ' +
  'müller mueller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schäfer koch bauer richter klein wolf schröder neumann schwarz zimmermann braun krüger hofmann hartmann lange werner krause lehmann ' +
  'dubois moreau laurent lefebvre leroy roux fournier girard bonnet lambert fontaine rousseau garnier chevalier ' +
  'garcía garcia martínez martinez rodríguez rodriguez lópez lopez gonzález gonzalez pérez perez sánchez sanchez ramírez ramirez torres flores rivera gómez gomez díaz diaz cruz morales ortiz gutiérrez gutierrez herrera castillo mendoza ' +
  'rossi russo ferrari esposito bianchi romano colombo ricci marino greco conti silva santos oliveira souza pereira ferreira costa rodrigues carvalho ' +
  'hansen johansen olsen larsen andersen pedersen nilsen johansson andersson karlsson nilsson eriksson lindqvist lindström bergström virtanen korhonen mäkinen jensen nielsen kierkegaard ' +
  'van de vries jansen bakker visser smit meijer bos mulder ' +
  "smith johnson williams brown jones miller davis wilson anderson thomas taylor moore jackson martin thompson white harris clark lewis robinson walker young allen king wright scott hill green adams nelson baker hall campbell mitchell carter roberts turner phillips parker evans edwards collins stewart morris murphy cook rogers morgan cooper peterson reed bailey bell kelly howard ward cox richardson wood watson brooks bennett gray james hughes price myers long foster sanders ross powell sullivan russell patterson o’brien o'brien o'connor lovelace turing hopper torvalds";
const MORE_PLACES =
  'london|paris|berlin|munich|münchen|hamburg|cologne|köln|frankfurt|stuttgart|düsseldorf|leipzig|dresden|hannover|nuremberg|nürnberg|bremen|vienna|wien|graz|salzburg|zurich|zürich|geneva|genève|basel|bern|lausanne|lyon|marseille|toulouse|bordeaux|nantes|strasbourg|lille|madrid|barcelona|valencia|seville|sevilla|bilbao|málaga|malaga|lisbon|lisboa|porto|rome|roma|milan|milano|naples|turin|florence|venice|bologna|amsterdam|rotterdam|utrecht|the hague|eindhoven|brussels|antwerp|ghent|copenhagen|stockholm|gothenburg|malmö|oslo|bergen|helsinki|tampere|reykjavik|dublin|galway|edinburgh|glasgow|manchester|birmingham|liverpool|leeds|sheffield|bristol|cardiff|belfast|oxford|cambridge|york|brighton|warsaw|kraków|krakow|gdańsk|wrocław|poznań|prague|praha|brno|budapest|bucharest|sofia|belgrade|zagreb|ljubljana|bratislava|athens|thessaloniki|istanbul|ankara|izmir|moscow|saint petersburg|st. petersburg|kyiv|kiev|lviv|odesa|minsk|vilnius|riga|tallinn|new york|new york city|los angeles|chicago|houston|phoenix|philadelphia|san antonio|san diego|dallas|san jose|austin|jacksonville|san francisco|seattle|denver|boston|detroit|nashville|portland|las vegas|memphis|baltimore|milwaukee|atlanta|miami|oakland|minneapolis|tampa|new orleans|cleveland|honolulu|pittsburgh|cincinnati|st. louis|orlando|salt lake city|washington|washington, d.c.|silicon valley|brooklyn|manhattan|toronto|montreal|montréal|vancouver|calgary|ottawa|edmonton|quebec|mexico city|guadalajara|monterrey|bogotá|bogota|medellín|lima|quito|caracas|santiago|buenos aires|montevideo|são paulo|sao paulo|rio de janeiro|brasília|salvador|recife|havana|cairo|alexandria|casablanca|marrakesh|tunis|algiers|lagos|abuja|accra|nairobi|mombasa|addis ababa|kampala|johannesburg|cape town|durban|pretoria|dakar|kinshasa|dubai|abu dhabi|doha|riyadh|jeddah|kuwait city|amman|beirut|damascus|baghdad|tehran|tel aviv|jerusalem|karachi|lahore|islamabad|delhi|new delhi|mumbai|bangalore|bengaluru|hyderabad|chennai|kolkata|pune|ahmedabad|jaipur|kathmandu|dhaka|colombo|beijing|shanghai|shenzhen|guangzhou|chengdu|wuhan|hangzhou|nanjing|hong kong|taipei|seoul|busan|tokyo|osaka|kyoto|yokohama|nagoya|sapporo|fukuoka|manila|jakarta|bali|kuala lumpur|singapore|bangkok|chiang mai|hanoi|ho chi minh city|phnom penh|sydney|melbourne|brisbane|perth|adelaide|canberra|auckland|wellington|christchurch|europe|asia|africa|north america|south america|latin america|antarctica|middle east|southeast asia|scandinavia|the alps|alps|bavaria|bayern|saxony|catalonia|andalusia|tuscany|sicily|normandy|brittany|provence|wales|scotland|england|northern ireland|britain|great britain|uk|usa|u.s.|united states|united states of america|united kingdom|germany|deutschland|mount everest|lake geneva|rhine|danube|thames|seine|nile|amazon river|mississippi|atlantic|pacific|mediterranean|california|texas|florida|illinois|ohio|michigan|massachusetts|arizona|colorado|oregon|nevada|utah|minnesota|wisconsin|louisiana|alabama|kentucky|tennessee|maryland|connecticut|new jersey|new mexico|new hampshire|north carolina|south carolina|north dakota|south dakota|west virginia|rhode island|hawaii|alaska|ontario|british columbia|alberta|queensland|new south wales|tasmania';
const MORE_ORGANISATIONS =
  'google|microsoft|amazon web services|apple inc|facebook|ibm|intel|nvidia|openai|anthropic|siemens|bosch|volkswagen|bmw|daimler|sap|deutsche bank|commerzbank|allianz|lufthansa|airbus|boeing|nestlé|novartis|roche|ubs|hsbc|barclays|santander|goldman sachs|jpmorgan|morgan stanley|deloitte|accenture|mckinsey|pwc|kpmg|netflix|spotify|uber|airbnb|paypal|mastercard|samsung|sony|toyota|honda|huawei|alibaba|tencent|infosys|wipro|united nations|european union|european commission|world health organization|world bank|nato|unicef|unesco|nasa|fbi|cia|bbc|cnn|reuters|associated press|red cross|amnesty international|greenpeace|harvard|stanford|mit|eth zurich|pfizer|moderna|astrazeneca|bayer|basf|unilever|danone|renault|peugeot|orange s.a.|telefónica|vodafone|t-mobile|at&t|verizon|cisco|oracle|salesforce|adobe|dell|hewlett-packard|lenovo|xiaomi|walmart|target corporation|costco|ikea|h&m|zara|adidas|puma|heineken|carlsberg|philips|asml|ing|rabobank';

/** Languages of which the names of countries are known. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'];

/** Made when it is first asked: the words are many. */
export const nameLists = once((): NameLists => {
  const tagged = taggedWords();
  const of = (...tags: readonly string[]) => tags.flatMap((tag) => tagged.get(tag) ?? []);
  const places = new Set([
    ...of('City', 'Country', 'Region'),
    ...countries(),
    ...zoneCities(),
    ...MORE_PLACES.split('|'),
  ]);
  for (const none of NO_PLACES) places.delete(none);
  const organisations = new Set([
    ...of('Organization', 'SportsTeam', 'Company').filter((one) => one.length > 3),
    ...MORE_ORGANISATIONS.split('|'),
  ]);
  for (const none of NO_ORGANISATIONS) organisations.delete(none);
  return {
    first: new Set(
      [...of('FirstName', 'MaleName', 'FemaleName'), ...MORE_FIRST.split(' ')].filter(
        (one) => !one.includes(' ') && one.length > 1,
      ),
    ),
    last: new Set([...of('LastName'), ...MORE_LAST.split(' ')]),
    persons: new Set(of('Person').filter((one) => one.includes(' '))),
    places,
    organisations,
    demonyms: new Set(of('Demonym')),
    starts: startsOf([...places, ...organisations]),
  };
});

/** Abbreviations, and words of the language that are also names of little known places. */
const NO_PLACES = wordList(`
  rd st us of same why man male la am general center universal factory knox eastern central mountain island
  easter christmas wake truk nome para dawson wallis midway inde ordos navan vaughn regina jersey mobile
  reading bath split nice buffalo orange male best deal sale enterprise normal hell union independence
  surprise eden kong pole
`);
const NO_ORGANISATIONS = wordList(`
  dept univ assn corp orange target apple amazon gap shell visa meta subway dove tide discovery oracle bing
  chase giants heat jazz magic thunder wild stars rockets kings royals twins reds nets suns bills bears
  lions chargers police
`).concat('the who');

const NAMING =
  /^(?:City|Country|Region|Organization|SportsTeam|Company|FirstName|MaleName|FemaleName|LastName|Person|Demonym)$/;

function taggedWords(): ReadonlyMap<string, readonly string[]> {
  const model: unknown = COMPROMISE().model();
  const lexicon = property(property(model, 'one'), 'lexicon');
  const tagged = new Map<string, string[]>();
  for (const [word, tags] of Object.entries(lexicon ?? {}))
    for (const tag of Array.isArray(tags) ? tags : [tags])
      if (typeof tag === 'string' && NAMING.test(tag)) {
        const words = tagged.get(tag);
        if (words === undefined) tagged.set(tag, [word]);
        else words.push(word);
      }
  return tagged;
}

function property(value: unknown, key: string): object | null {
  if (typeof value !== 'object' || value === null) return null;
  const inner: unknown = Object.entries(value).find(([own]) => own === key)?.[1];
  return typeof inner === 'object' ? inner : null;
}

function countries(): readonly string[] {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters
    .flatMap((a) => letters.map((b) => a + b))
    .filter((code) => !/^(?:[QX][A-Z]|ZZ|AA|EU|EZ|UN)$/.test(code) || code === 'XK');
  return LANGUAGES.flatMap((language) => {
    const names = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
    return codes.flatMap(
      (code) =>
        names
          .of(code)
          ?.toLowerCase()
          .replace(/\s*\(.*\)$/, '') ?? [],
    );
  }).filter((name) => name.length > 3);
}

function zoneCities(): readonly string[] {
  return Intl.supportedValuesOf('timeZone')
    .filter((zone) => /^(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)\//.test(zone))
    .map((zone) =>
      zone
        .slice(zone.lastIndexOf('/') + 1)
        .replaceAll('_', ' ')
        .toLowerCase(),
    );
}

function startsOf(names: readonly string[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const name of names) {
    const words = name.split(' ');
    const [first = ''] = words;
    starts.set(first, Math.max(starts.get(first) ?? 0, words.length));
  }
  return starts;
}
