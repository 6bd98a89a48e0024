type Place = {
  name: string;
  isInside: boolean;
  /** What else it is called in English: that stays as it was written. */
  englishNames: readonly string[];
};

/** Places that many stories have: what they are called in English, in languages with spaces, and in those without. */
const insideNames = `
kitchen, kitchens: küche wohnküche cuisine cocina cucina cozinha кухня кухне مطبخ המטבח | 厨房 廚房 キッチン 台所 부엌 주방
living room: wohnzimmer salon sala soggiorno гостиная гостиной | 客厅 客廳 居間 リビング 거실
bedroom, bedrooms: schlafzimmer chambre dormitorio habitación спальня спальне | 卧室 臥室 寝室 침실
bathroom: badezimmer baño bagno banheiro ванная | 浴室 卫生间 洗手间 욕실
attic: dachboden grenier desván soffitta чердак | 阁楼 屋根裏
cellar, basement: keller sótano cantina подвал | 地下室 지하실
hallway, corridor, hall: flur korridor couloir pasillo corridoio коридор коридоре ممر | 走廊 廊下 복도
office, offices: büro bureau oficina ufficio escritório офис офисе مكتب | 办公室 辦公室 オフィス 事務所 사무실
café, cafe, coffeehouse: kaffeehaus cafetería caffè кафе مقهى | 咖啡馆 咖啡厅 咖啡店 咖啡館 咖啡廳 カフェ 喫茶店 카페
tea house, teahouse: teehaus | 茶馆 茶館 茶室
restaurant, restaurants, diner: gasthaus wirtshaus restaurante ristorante ресторан ресторане مطعم | 餐厅 餐廳 饭店 饭馆 レストラン 食堂 식당
bar, pub, tavern: kneipe taverne taberna бар баре حانة | 酒吧 酒馆 バー 居酒屋 술집
hotel, inn: hôtel отель гостиница فندق | 酒店 旅馆 旅館 ホテル 호텔
shop, store, bookshop, bakery: laden geschäft bäckerei boutique magasin boulangerie tienda panadería negozio loja магазин магазине متجر دكان | 商店 书店 書店 面包店 店铺 店里 お店 가게
school: schule école escuela scuola escola школа школе مدرسة | 学校 學校 학교
classroom: klassenzimmer classe aula класс فصل | 教室 교실
library: bibliothek bibliothèque biblioteca библиотека библиотеке مكتبة | 图书馆 圖書館 図書館 도서관
hospital: krankenhaus hôpital hospital ospedale больница больнице مستشفى | 医院 醫院 病院 病房 병원
church: kirche église iglesia chiesa igreja церковь كنيسة | 教堂 教会 교회
mosque: moschee mosquée mezquita мечеть مسجد | 清真寺
theatre, theater, stage: bühne théâtre teatro театр مسرح | 剧院 剧场 劇場 舞台 극장
museum: musée museo museu музей متحف | 博物馆 美术馆 博物館 美術館 박물관
laboratory, lab: labor laboratoire laboratorio лаборатория مختبر | 实验室 實驗室 研究室 실험실
workshop, garage: werkstatt atelier taller officina мастерская ورشة | 车间 工坊 车库
factory: fabrik usine fábrica fabbrica фабрика завод مصنع | 工厂 工廠 工場 공장
prison, cell: gefängnis zelle cárcel prigione тюрьма سجن | 监狱 牢房 監獄 감옥
train, trains: zug abteil tren treno trem поезд поезде قطار | 火车 列车 车厢 地铁 火車 電車 列車 기차
car, cars, taxi: auto wagen voiture coche macchina carro машина машине سيارة | 汽车 车里 车上 出租车 車内 자동차
bus: autobus autobús автобус حافلة | 公交车 巴士 バス 버스
airplane, plane, aeroplane: flugzeug avion avión aereo avião самолёт طائرة | 飞机 飛機 飛行機 비행기
spaceship, spacecraft: raumschiff vaisseau | 飞船 太空船 宇宙船 우주선
room, rooms: zimmer pièce cuarto stanza quarto комната комнате غرفة חדר | 房间 房間 屋里 部屋
apartment, flat: wohnung appartement apartamento piso appartamento квартира квартире شقة | 公寓 アパート 아파트
palace: palast palais palacio palazzo дворец قصر | 宫殿 皇宫 宮殿 궁전
`;

const outsideNames = `
train station: bahnhof gare estación stazione estação вокзал вокзале محطة | 火车站 车站 站台 駅 기차역
airport: flughafen aéroport aeropuerto aeroporto аэропорт مطار | 机场 機場 空港 공항
castle: burg schloss château castillo castello castelo замок قلعة | 城堡 お城
temple: tempel templo tempio храм معبد | 寺庙 寺廟 寺院 神社
house, houses, cottage, cabin, hut: haus hütte maison casa дом доме بيت منزل הבית | 房子 屋子 小屋 家里 家中 家門 家の前
market: marktplatz markt marché mercado mercato рынок рынке سوق | 市场 市場 集市 菜市场 시장
street, streets, alley, avenue: straße strasse gasse rue ruelle calle strada rua улица улице شارع רחוב | 街道 街上 街头 马路 巷子 小巷 大街 路上 通り 道端 거리
city, town: stadt großstadt ville ciudad città cidade город городе مدينة עיר | 城市 都市 城里 市中心 上海 北京 東京 东京 도시
village: dorf aldea pueblo villaggio aldeia деревня деревне قرية כפר | 村庄 村子 村里 山村 小镇 마을
square: platz piazza plaza praça площадь ميدان | 广场 廣場 広場 광장
bridge: brücke pont puente ponte мост мосту جسر | 桥上 大桥 小桥 桥边 橋 다리
park, playground: spielplatz parc parque parco парк парке حديقة | 公园 公園 공원
garden, gardens: garten jardin jardín giardino jardim сад саду بستان | 花园 花園 院子 庭院 정원
rooftop, roof: dach toit azotea tetto крыша крыше سطح | 屋顶 天台 屋上 옥상
balcony, terrace: balkon terrasse balcón terraza balcone балкон شرفة | 阳台 陽台 ベランダ
forest, woods, woodland, jungle: wald wäldchen forêt bois bosque selva foresta floresta лес лесу غابة יער | 森林 树林 樹林 丛林 竹林 林中 숲
meadow: wiese pré prairie prado prato луг лугу مرج | 草原 草地 草坪 原っぱ 초원
field, fields: feld felder champ campo поле حقل שדה | 田野 田里 稻田 麦田 들판
farm: bauernhof ferme granja fattoria ферма مزرعة | 农场 農場 牧場 농장
mountains, mountain: berg berge gebirge montagne montagnes montaña montañas montagna montanha горы горах جبل جبال | 高山 山上 山里 山顶 大山 雪山 山頂 山の上
hill, hills: hügel colline colina collina холм تل | 山坡 山丘 언덕
valley: tal vallée valle долина وادي | 山谷
river: fluss ufer rivière fleuve río fiume rio река реке نهر נהר | 河边 河岸 江边 小河 川辺 강가
lake: lac lago озеро озере بحيرة אגם | 湖边 湖畔 湖上 湖 호수
sea, ocean: meer ozean mer océan mar océano mare море океан بحر البحر הים | 大海 海上 海洋 海面 바다
beach, seaside, shore: strand küste plage playa spiaggia praia пляж пляже شاطئ חוף | 海边 海滩 沙滩 海邊 海辺 浜辺 海岸 해변
harbour, harbor, port: hafen puerto porto порт гавань ميناء נמל | 港口 码头 碼頭 항구
island: insel île isla isola ilha остров острове جزيرة אי | 小岛 岛上 海岛
lighthouse: leuchtturm phare faro farol маяк منارة | 灯塔 燈塔 灯台 등대
boat, ship, sailboat, deck: boot schiff bateau barco barca лодка корабль سفينة قارب | 船上 小船 渔船 轮船 船
desert, dunes: wüste désert desierto deserto пустыня пустыне صحراء מדבר | 沙漠 砂漠 사막
cave, caves, cavern: höhle grotte cueva grotta caverna пещера كهف מערה | 山洞 洞穴 洞窟 동굴
space: weltraum weltall espace espacio spazio космос الفضاء חלל | 太空 宇宙 우주
planet: planète planeta pianeta планета كوكب | 星球 行星
moon: mond lune luna lua луна القمر | 月球 月面
cemetery, graveyard: friedhof cimetière cementerio cimitero кладбище مقبرة | 墓地 坟墓 묘지
road, highway: landstraße weg route carretera camino autostrada дорога дороге طريق | 公路 小路 山路 道路
courtyard: hof cour patio cortile двор дворе فناء | 四合院 中庭
`;

const readCharactersMax = 2000;
const byWord = new Map<string, Place>();
const byPart = new Map<string, Place>();
for (const [names, isInside] of [[insideNames, true] as const, [outsideNames, false] as const]) {
  for (const line of names.trim().split("\n")) enterPlace(line, isInside);
}
// The longest first, so that a train station is not taken for a train.
const partsPattern = new RegExp([...byPart.keys()].toSorted((a, b) => b.length - a.length).join("|"), "gu");

export type FoundPlace = Place & {
  /** As the text has it. */
  words: string;
  index: number;
};

/** Words that are places in a heading, but hardly ever in a sentence. */
const doubtfulWords = new Set(
  "bar square car stage hall cell deck port bad bois pré cave champ cour piso auto weg hof tal boot cantina store plane flat town planet space moon mond lune luna".split(
    " ",
  ),
);

/** The first place that a sentence names. */
export function findPlace(sentence: string): FoundPlace | null {
  const places = listPlaces(sentence).filter(({ words }) => !doubtfulWords.has(words.toLowerCase()));
  return places.toSorted((a, b) => a.index - b.index)[0] ?? null;
}

/** A text with the places in it said in English; the rest as it is. */
export function translatePlaces(text: string): string {
  let said = text;
  for (const { name, englishNames, words, index } of listPlaces(text).toSorted((a, b) => b.index - a.index)) {
    if (englishNames.includes(words.toLowerCase())) continue;
    const [before, after] = [said.slice(0, index), said.slice(index + words.length)];
    const gapBefore = /[\p{L}\p{N}]$/u.test(before) ? " " : "";
    const gapAfter = /^[\p{L}\p{N}]/u.test(after) ? " " : "";
    said = before + gapBefore + name + gapAfter + after;
  }
  return said;
}

/** Whether a place has a roof; `null` where the text names none that is known. */
export function isInsidePlace(text: string): boolean | null {
  const [first] = listPlaces(text).toSorted((a, b) => a.index - b.index);
  return first?.isInside ?? null;
}

function listPlaces(text: string): FoundPlace[] {
  const found: FoundPlace[] = [];
  const words = [...text.slice(0, readCharactersMax).matchAll(/[\p{L}\p{M}-]+/gu)].map((match) => ({
    word: match[0],
    index: match.index,
  }));
  for (let at = 0; at < words.length; at += 1) {
    const one = words[at];
    const two = words[at + 1];
    if (one === undefined) continue;
    const pair = two === undefined ? undefined : byWord.get(`${one.word} ${two.word}`.toLowerCase());
    if (pair !== undefined && two !== undefined) {
      found.push({ ...pair, words: text.slice(one.index, two.index + two.word.length), index: one.index });
      at += 1;
      continue;
    }
    const single = byWord.get(one.word.toLowerCase()) ?? byWord.get(one.word.replace(/^(?:[وبفل]?ال|لل)/u, ""));
    if (single !== undefined) found.push({ ...single, words: one.word, index: one.index });
  }
  return [...found, ...listParts(text)];
}

function listParts(text: string): FoundPlace[] {
  return [...text.slice(0, readCharactersMax).matchAll(partsPattern)].flatMap(({ 0: words, index }) => {
    const place = byPart.get(words);
    return place === undefined ? [] : [{ ...place, words, index }];
  });
}

function enterPlace(line: string, isInside: boolean): void {
  const [names = "", rest = ""] = line.split(": ");
  const [words = "", parts = ""] = rest.split(" | ");
  const englishNames = names.split(", ");
  const place = { name: englishNames[0] ?? "", isInside, englishNames };
  for (const word of [...englishNames, ...words.split(" ")]) {
    if (!byWord.has(word)) byWord.set(word, place);
  }
  for (const part of parts.split(" ").filter(Boolean)) byPart.set(part, place);
}
