export type Gender = "female" | "male";

const femaleNames = new Set(
  "anna ana anne emma olivia sophia sofia mia lena laura julia julie marie maria mary sarah sara hannah eva eve clara charlotte emily alice jane lucy grace rose lily chloe zoe louise carmen elena isabel olga irina yuki mei ling priya ruth rachel miriam esther ingrid freya kate katherine elizabeth margaret helen susan karen nancy betty jennifer jessica amy kelly megan rebecca maya nina nora ella ava isla ivy ruby nova joan eleanor abby abigail agnes gretel juliet ophelia".split(
    " ",
  ),
);
const maleNames = new Set(
  "ben benjamin tom thomas paul peter max jonas luca luke leon finn felix jan hans michael mike john jack james jim david daniel dan sam samuel adam noah liam oliver henry harry george william will bill bob robert joe joseph frank fred charlie charles edward eric mark martin matt matthew nick nicholas simon steve steven tim anton alexander alex andrew christian pierre louis hugo carlos juan luis pedro diego marco mario ivan boris sasha nikita ahmed ali omar hassan ken akira wei raj ravi moses aaron isaac jacob lars erik kevin brian gary larry jerry scott greg patrick sean oscar arthur walter romeo hamlet hansel leo theo rob ron".split(
    " ",
  ),
);
const femaleWords =
  /(?<![\p{L}\p{M}])(?:mrs|ms|miss|lady|madam|queen|princess|mother|mom|mum|grandma|grandmother|sister|aunt|daughter|wife|woman|girl|witch|waitress|nurse)(?![\p{L}\p{M}])|妈|母|奶奶|婆|姐|妹|女|娘|嫂|婶|太太|夫人|姑/iu;
const maleWords =
  /(?<![\p{L}\p{M}])(?:mr|sir|lord|king|prince|father|dad|daddy|grandpa|grandfather|brother|uncle|son|husband|man|boy|wizard|waiter|captain)(?![\p{L}\p{M}])|爸|父|爷|爺|哥|弟|男|叔|伯|先生|老板|师傅/iu;
const femaleSigns = /[红紅丽麗芳娟婷娜花燕玲美兰蘭梅琳莉雪婉秀珍霞莲蓮月倩雯颖静靜慧晓曉]$/u;
const maleSigns = /[明强強伟偉刚剛军軍勇龙龍建国國杰傑涛濤磊斌峰鹏鵬辉輝浩宇默]$/u;

/** The usual gender of a name; `null` if unknown. */
export function guessGender(name: string): Gender | null {
  const isNamed = (names: ReadonlySet<string>): boolean =>
    name
      .toLowerCase()
      .split(/[\s-]+/)
      .some((word) => names.has(word));
  if (femaleWords.test(name)) return "female";
  if (maleWords.test(name)) return "male";
  if (isNamed(femaleNames) || femaleSigns.test(name)) return "female";
  return isNamed(maleNames) || maleSigns.test(name) ? "male" : null;
}
