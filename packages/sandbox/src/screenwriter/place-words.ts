type Place = {
  name: string;
  isInside: boolean;
  /** Its English names, which stay as written. */
  englishNames: readonly string[];
};

/** Common places in English and Chinese. */
const insideNames = `
kitchen, kitchens | 厨房 廚房; living room | 客厅 客廳; bedroom, bedrooms | 卧室 臥室; bathroom | 浴室 卫生间 洗手间;
attic | 阁楼; cellar, basement | 地下室; hallway, corridor, hall | 走廊; office, offices | 办公室 辦公室;
café, cafe, coffeehouse | 咖啡馆 咖啡厅 咖啡店 咖啡館 咖啡廳; tea house, teahouse | 茶馆 茶館 茶室;
restaurant, restaurants, diner | 餐厅 餐廳 饭店 饭馆; bar, pub, tavern | 酒吧 酒馆; hotel, inn | 酒店 旅馆 旅館;
shop, store, bookshop, bakery | 商店 书店 面包店 店铺 店里; school | 学校 學校; classroom | 教室;
library | 图书馆 圖書館; hospital | 医院 醫院 病房; church | 教堂; mosque | 清真寺;
theatre, theater, stage | 剧院 剧场 舞台; museum | 博物馆 美术馆; laboratory, lab | 实验室 實驗室;
workshop, garage | 车间 工坊 车库; factory | 工厂 工廠; prison, cell | 监狱 牢房;
train, trains | 火车 列车 车厢 地铁 火車; car, cars, taxi | 汽车 车里 车上 出租车; bus | 公交车 巴士;
airplane, plane, aeroplane | 飞机 飛機; spaceship, spacecraft | 飞船 太空船; room, rooms | 房间 房間 屋里;
apartment, flat | 公寓; palace | 宫殿 皇宫`;

const outsideNames = `
train station, railway station, station, platform | 火车站 车站 站台; airport | 机场 機場; castle | 城堡; temple | 寺庙 寺廟 寺院;
house, houses, cottage, cabin, hut | 房子 屋子 小屋 家里 家中; market | 市场 市場 集市 菜市场;
street, streets, alley, avenue | 街道 街上 街头 马路 巷子 小巷 大街 路上;
city, town | 城市 都市 城里 市中心 上海 北京 东京; village | 村庄 村子 村里 山村 小镇; square | 广场 廣場;
bridge | 桥上 大桥 小桥 桥边; park, playground | 公园 公園; garden, gardens | 花园 花園 院子 庭院;
rooftop, roof | 屋顶 天台; balcony, terrace | 阳台 陽台;
forest, woods, woodland, jungle | 森林 树林 樹林 丛林 竹林 林中; meadow | 草原 草地 草坪;
field, fields | 田野 田里 稻田 麦田; farm | 农场 農場; mountains, mountain | 高山 山上 山里 山顶 大山 雪山;
hill, hills | 山坡 山丘; valley | 山谷; river | 河边 河岸 江边 小河; lake | 湖边 湖畔 湖上 湖;
sea, ocean | 大海 海上 海洋 海面; beach, seaside, shore | 海边 海滩 沙滩 海邊 海岸;
harbour, harbor, port | 港口 码头 碼頭; island | 小岛 岛上 海岛; lighthouse | 灯塔 燈塔;
boat, ship, sailboat, deck | 船上 小船 渔船 轮船 船; desert, dunes | 沙漠; cave, caves, cavern | 山洞 洞穴;
space | 太空 宇宙; planet | 星球 行星; moon | 月球; cemetery, graveyard | 墓地 坟墓;
road, highway | 公路 小路 山路 道路; courtyard | 四合院`;

const readCharactersMax = 2000;
const byName = new Map<string, Place>();
for (const [list, isInside] of [[insideNames, true] as const, [outsideNames, false] as const]) {
  for (const entry of list.split(";")) {
    const [names = "", signs = ""] = entry.trim().split(" | ");
    const englishNames = names.split(", ");
    const place = { name: englishNames[0] ?? "", isInside, englishNames };
    for (const name of [...englishNames, ...signs.split(" ").filter(Boolean)]) byName.set(name, place);
  }
}
// Longest first, so that "train station" is not matched as "train".
const names = [...byName.keys()].toSorted((a, b) => b.length - a.length);
const words = names.filter((name) => /^\p{Script=Latin}/u.test(name)).join("|");
const signs = names.filter((name) => /^\p{Script=Han}/u.test(name)).join("|");
const namesPattern = new RegExp(`(?<![\\p{L}\\p{M}-])(?:${words})(?![\\p{L}\\p{M}-])|${signs}`, "giu");

export type FoundPlace = Place & {
  /** As in the text. */
  words: string;
  index: number;
};

/** Words that are places in a heading, but rarely in a sentence. */
const doubtfulWords = new Set(
  "bar square car stage hall cell deck port cave store plane flat town planet space moon".split(" "),
);

/** The first place that a sentence names. */
export function findPlace(sentence: string): FoundPlace | null {
  return listPlaces(sentence).find((place) => !doubtfulWords.has(place.words.toLowerCase())) ?? null;
}

/** Translates the places in a text to English. */
export function translatePlaces(text: string): string {
  let said = text;
  for (const { name, englishNames, words, index } of listPlaces(text).toReversed()) {
    if (englishNames.includes(words.toLowerCase())) continue;
    const [before, after] = [said.slice(0, index), said.slice(index + words.length)];
    const gapBefore = /[\p{L}\p{N}]$/u.test(before) ? " " : "";
    const gapAfter = /^[\p{L}\p{N}]/u.test(after) ? " " : "";
    said = before + gapBefore + name + gapAfter + after;
  }
  return said;
}

/** Whether a place is indoors; `null` if the text names no known one. */
export function isInsidePlace(text: string): boolean | null {
  return listPlaces(text)[0]?.isInside ?? null;
}

function listPlaces(text: string): FoundPlace[] {
  return [...text.slice(0, readCharactersMax).matchAll(namesPattern)].flatMap(({ 0: found, index }) => {
    const place = byName.get(found.toLowerCase());
    return place === undefined ? [] : [{ ...place, words: found, index }];
  });
}
