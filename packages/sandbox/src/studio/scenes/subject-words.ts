import type { Subject } from "./subject-table.ts";

/** The words for each subject, in several languages. */
export const subjectWords: Readonly<Record<Subject, RegExp>> = {
  cat: /\b(cats?|kittens?|katze|chat|gato)\b|猫|кош|кот\b|قطة/iu,
  dog: /\b(dogs?|pupp(?:y|ies)|retriever|labrador|terrier|poodle|corgi|hund|chien|perro)\b|狗|犬|собак/iu,
  horse: /\b(horses?|pony|stallion|foal|pferd|cheval|caballo)\b|马|馬|лошад/iu,
  cow: /\b(cows?|cattle|bull|calf|kuh|vache|vaca)\b|牛|коров/iu,
  sheep: /\b(sheep|lambs?|schaf|mouton|oveja)\b|羊|овц/iu,
  elephant: /\b(elephants?|elefant|éléphant|elefante)\b|大象|слон/iu,
  fox: /\b(fox|foxes|fuchs|renard|zorro)\b|狐|лиса/iu,
  bear: /\b(bears?|panda|teddy|bär|oso)\b|熊|медвед/iu,
  rabbit: /\b(rabbits?|bunny|hare|hase|lapin|conejo)\b|兔|кролик/iu,
  deer: /\b(deer|stag|reindeer|moose|hirsch|cerf|ciervo)\b|鹿|олен/iu,
  lion: /\b(lions?|tigers?|leopard|löwe|león)\b|狮|虎|лев\b|тигр/iu,
  penguin: /\b(penguins?|pinguin|pingüino)\b|企鹅|пингвин/iu,
  duck: /\b(ducks?|ducklings?|swan|goose|ente|canard|pato)\b|鸭|утк/iu,
  owl: /\b(owls?|eule|hibou|búho)\b|猫头鹰|сов[аы]/iu,
  butterfly: /\b(butterfl(?:y|ies)|moth|schmetterling|papillon|mariposa)\b|蝴蝶|бабочк/iu,
  fish: /\b(fish|goldfish|salmon|koi|shark|fisch|poisson|pez)\b|鱼|рыб/iu,
  turtle: /\b(turtles?|tortoise|schildkröte)\b|龟|черепах/iu,
  whale: /\b(whales?|wal|baleine|ballena|dolphins?|orca)\b|鲸|鯨|кит\b/iu,
  birds:
    /\b(birds?|seagulls?|gulls?|cranes?|geese|eagles?|crows?|doves?|parrots?|vögel|oiseaux?|pájaros?)\b|鸟|鳥|птиц/iu,
  lighthouse: /\b(lighthouse|leuchtturm|phare|faro)\b|灯塔|灯台|маяк/iu,
  boat: /\b(boats?|ships?|sail|sailing|sailboat|yacht|ferry|canoe|kayak|schiff|bateau|barco)\b|船|帆|лодк/iu,
  car: /\b(cars?|taxis?|cabs?|automobile|convertible|sedan|auto|voiture|coche)\b|汽车|轿车|машин[аыу]/iu,
  train: /\b(trains?|locomotive|tram|trams|railway|metro|subway|zug|tren)\b|火车|地铁|電車|列车|поезд/iu,
  bus: /\b(bus|buses|autobus)\b|公交|巴士|автобус/iu,
  truck: /\b(trucks?|lorry|(?:camper|delivery) van|tractor|lastwagen|camion)\b|卡车|грузовик/iu,
  bicycle: /\b(bicycles?|bikes?|cycling|cyclist|fahrrad|vélo|bicicleta)\b|自行车|велосипед/iu,
  motorcycle: /\b(motorcycles?|motorbikes?|scooter|vespa|motorrad|moto)\b|摩托|мотоцикл/iu,
  airplane: /\b(airplanes?|aeroplanes?|planes?|aircraft|jet|flugzeug|avion|avión)\b|飞机|самол[её]т/iu,
  helicopter: /\b(helicopters?|hubschrauber|drone)\b|直升机|вертол/iu,
  rocket: /\b(rockets?|spaceship|spacecraft|rakete|fusée|cohete)\b|火箭|ロケット|ракет/iu,
  balloon: /\b(balloons?|ballon|globo)\b|气球|気球|воздушн/iu,
  house: /\b(houses?|cottages?|cabins?|huts?|home|farm|barn|farmhouse|villa|haus|maison|casa)\b|房|家|дом/iu,
  castle: /\b(castles?|fortress|palace|schloss|château|castillo)\b|城堡|замок/iu,
  church: /\b(church|chapel|cathedral|monastery|temple|kirche|église|iglesia)\b|教堂|寺|церк/iu,
  windmill: /\b(windmills?|wind turbine|windmühle|moulin|molino)\b|风车|мельниц/iu,
  tent: /\b(tents?|camping|campsite|zelt|tente)\b|帐篷|палатк/iu,
  bridge: /\b(bridges?|brücke|pont|puente)\b|桥|橋|мост/iu,
  tower: /\b(eiffel(?: tower)?|tower|turm|torre)\b|塔|башн/iu,
  door: /\b(doors?|gates?|tür|porte|puerta)\b|门|門|двер/iu,
  stairs: /\b(stairs?|staircase|stairway|treppe|escalier|escalera)\b|楼梯|лестниц/iu,
  tunnel: /\b(tunnels?)\b|隧道|тоннел/iu,
  waterfall: /\b(waterfalls?|wasserfall|cascade|cascada)\b|瀑布|водопад/iu,
  volcano: /\b(volcano(?:es)?|vulkan|volcan|volcán)\b|火山|вулкан/iu,
  tree: /\b(tree|oak(?! (?:table|desk|floor|board|barrel))|willow|baum|arbre|árbol)\b|树|木|дерев/iu,
  palm: /\b(palms?(?: trees?)?|coconut|palme|palmier|palmera)\b|棕榈|椰|пальм/iu,
  flower: /\b(sunflowers?|dais(?:y|ies)|sonnenblume|tournesol|girasol)\b|向日葵|подсолнух/iu,
  cactus: /\b(cactus|cacti|kaktus)\b|仙人掌|кактус/iu,
  mushroom: /\b(mushrooms?|toadstool|pilz|champignon|seta)\b|蘑菇|гриб/iu,
  pumpkin: /\b(pumpkins?|jack-o-lantern|halloween|kürbis|citrouille|calabaza)\b|南瓜|тыкв/iu,
  campfire: /\b(campfires?|bonfire|lagerfeuer)\b|篝火|кост[её]р/iu,
  snowman: /\b(snowman|schneemann)\b|雪人|снеговик/iu,
  rainbow: /\b(rainbows?|regenbogen|arc-en-ciel|arcoíris)\b|彩虹|радуг/iu,
  lightning: /\b(lightning|thunderstorms?|thunder|blitz|éclair|relámpago)\b|闪电|雷|молни/iu,
  person:
    /\b(person|m[ae]n|wom[ae]n|girls?|boys?|hiker|astronaut|travell?er|people|child|children|samurai|knight|lady|couple|family|friends|grandmother|grandfather|farmer|chef|cook|doctor|nurse|teacher|dancer|runner|musician|carpenter|fisherman|king|queen|baby|cyclist|barista|painter|wizard|businesswoman|businessman|frau|mann|femme|homme|mujer|hombre)\b|人|女|男|человек|девушк|женщин|мужчин/iu,
  robot: /\b(robots?|androids?|roboter)\b|机器人|робот/iu,
  coffeepot:
    /\b(pour-over(?: coffee(?: set| maker)?)?|coffee (?:set|pot|maker)|teapot|kettle|kanne|théière|tetera)\b|茶壶|чайник/iu,
  coffee: /\b(coffee|espresso|cappuccino|latte|cups?|mugs?|tea|kaffee|tee|café au lait|thé|té)\b|杯|茶|кофе|чай/iu,
  cake: /\b(cakes?|birthday|pie|cupcakes?|dessert|kuchen|torte|gâteau|pastel)\b|蛋糕|торт/iu,
  pizza: /\b(pizzas?)\b|披萨|比萨|пицц/iu,
  apple: /\b(apples?|tomato(?:es)?|peach|cherr(?:y|ies)|apfel|pomme|manzana)\b|苹果|яблок/iu,
  honey: /\b(honey|figs?|honig|miel)\b|蜂蜜|м[её]д\b/iu,
  fruit:
    /\b(fruits?|oranges?|lemons?|grapes|strawberr(?:y|ies)|bananas?|vegetables?|obst|früchte|fruta)\b|水果|фрукт/iu,
  bread: /\b(bread|loaf|baguette|croissants?|toast|brot)\b|面包|хлеб/iu,
  burger: /\b(burgers?|hamburger|sandwich(?:es)?)\b|汉堡|бургер/iu,
  noodles: /\b(noodles?|ramen|soup|pasta|spaghetti|salad|curry|rice|bowl|pho|suppe|soupe|sopa)\b|面条|拉面|汤|饭|суп/iu,
  icecream: /\b(ice[- ]cream|gelato|sundae|eis|helado)\b|冰淇淋|морожен/iu,
  bottle: /\b(bottles?|wine|beer|perfume|whisky|flasche|wein|vino)\b|瓶|酒|вин[оа]/iu,
  sushi: /\b(sushi|sashimi)\b|寿司|суши/iu,
  donut: /\b(donuts?|doughnuts?|cookies?|biscuits?|bagel)\b|甜甜圈|пончик/iu,
  book: /\b(books?|novel|diary|notebook|buch|livre|libro)\b|书|書|книг/iu,
  clock: /\b(clocks?|wristwatch|pocket watch|alarm clock|uhr|horloge|reloj)\b|钟|鐘|表\b|часы/iu,
  camera:
    /\b(vintage camera|film camera|(?<!the |into )cameras?(?! (?:glides|moves|pans|follows|flies|circles)))\b|相机|фотоаппарат/iu,
  laptop: /\b(laptops?|computers?|keyboard|ordenador|ordinateur)\b|电脑|ноутбук|компьютер/iu,
  phone: /\b(phones?|smartphones?|telephone|téléphone|teléfono)\b|手机|телефон/iu,
  key: /\b(keys?|schlüssel|clé|llave)\b|钥匙|ключ/iu,
  shoe: /\b(shoes?|sneakers?|boots?|schuhe?|chaussures?|zapatos?)\b|鞋|кроссовк/iu,
  guitar: /\b(guitars?|ukulele|banjo|gitarre|guitare|guitarra)\b|吉他|гитар/iu,
  cello: /\b(cellos?|violins?|viola|double bass|geige|violon|violín)\b|提琴|скрипк|виолончел/iu,
  chair: /\b(chairs?|stool|armchair|stuhl|chaise|silla)\b|椅|стул/iu,
  lamp: /\b(lamps?(?![- ]?light)|lantern|lampe|lámpara)\b|台灯|лампа/iu,
  umbrella: /\b(umbrellas?|parasol|regenschirm|parapluie|paraguas)\b|伞|傘|зонт/iu,
  bookshelf: /\b(bookshel(?:f|ves)|bookcase|bücherregal)\b|书架|полк/iu,
  plant: /\b(potted plants?|house ?plants?|plants|monstera|zimmerpflanze)\b|盆栽/iu,
  candle: /\b(candles?|candlelight|kerze|bougie|vela)\b|蜡烛|свеч/iu,
  suitcase: /\b(suitcases?|luggage|backpacks?|handbag|koffer|valise|maleta)\b|行李|чемодан/iu,
  ball: /\b(footballs?|soccer(?: ball)?|balls?|basketball|fußball)\b|足球|мяч/iu,
  letter: /\b(letters?|envelopes?|postcard|lettre|carta)\b|信封|письм/iu,
  heart: /\b(hearts?|valentine|herz|cœur|corazón)\b|爱心|сердц/iu,
};

const colourWords: readonly [colour: string, words: RegExp][] = [
  ["#c0392b", /\b(red|crimson|scarlet|rote[rsn]?|rouge|rojo|roja)\b|红|красн/giu],
  ["#2f6db5", /\b(blue|navy|blaue[rsn]?|bleue?|azul)\b|蓝|син/giu],
  ["#3f8a4a", /\b(green|emerald|grüne[rsn]?|verte?|verde)\b|绿|зел[её]н/giu],
  ["#e8b92f", /\b(yellow|gelbe[rsn]?|jaune|amarill[oa])\b|黄|ж[её]лт/giu],
  ["#e07b2a", /\b(orange|ginger)\b|橙/giu],
  ["#e88ba0", /\b(pink|rosa)\b|粉/giu],
  ["#7a4f9a", /\b(purple|violet|lila)\b|紫/giu],
  ["#7a4a2b", /\b(brown|braune[rsn]?|wooden)\b|棕/giu],
  ["#2a2a30", /\b(black|schwarze[rsn]?|negr[oa])\b|黑|ч[её]рн/giu],
  ["#f2efe6", /\b(white|weiße[rsn]?|blanc|blanche|blanc[oa])\b|白|бел/giu],
  ["#8f949b", /\b(gr[ea]y|silver|graue[rsn]?|gris)\b|灰/giu],
];

export type FoundSubject = {
  subject: Subject;
  /** The colour that the prompt gives it. */
  colour: string | null;
};

/** A colour belongs to a subject if it is at most this far before it: "a red fishing boat". */
const colourReach = 24;

/** The subjects of a text, in the order in which it names them. Words that are part of a longer name do not count. */
export function findSubjects(text: string): FoundSubject[] {
  const matches = (Object.keys(subjectWords) as Subject[])
    .flatMap((subject) => {
      const match = subjectWords[subject].exec(text);
      return match === null ? [] : [{ subject, index: match.index, end: match.index + match[0].length }];
    })
    .toSorted((a, b) => a.index - b.index || b.end - a.end);
  let end = 0;
  return matches.flatMap((match) => {
    if (match.index < end) return [];
    end = match.end;
    const before = text.slice(Math.max(0, match.index - colourReach), match.index);
    return [{ subject: match.subject, colour: findColour(before) }];
  });
}

/** The last colour in the words before a subject, within the same phrase. */
function findColour(before: string): string | null {
  const phrase = before.split(/[,.;:]|\b(?:and|with|on|in|of|over|under)\b/u).at(-1) ?? "";
  let found: { colour: string; index: number } | null = null;
  for (const [colour, words] of colourWords) {
    const index = [...phrase.matchAll(words)].at(-1)?.index ?? -1;
    if (index > (found?.index ?? -1)) found = { colour, index };
  }
  return found?.colour ?? null;
}
