export type Gender = "female" | "male";

const femaleNames = new Set(
  "anna ana anne emma olivia sophia sofia sophie mia lena lea lara laura julia julie marie maria mary sarah sara hannah hanna eva eve clara klara charlotte emily alice jane lucy lucie grace rose lily chloe chloé camille manon léa inès zoe zoé louise juliette élodie nathalie isabelle carmen lucía lucia elena isabel paula marta sofía valentina camila giulia chiara francesca beatriz inês olga natasha irina svetlana tatiana katya katja anastasia masha fatima aisha layla leila amina nour noor mariam maryam yasmin salma huda zainab yuki sakura hana hanako aiko mei ling xiaohong lihua yan fang jing ying na priya ananya lakshmi ruth rachel miriam esther ingrid astrid freya greta heidi ursula monika petra sabine susanne kate katherine elizabeth margaret helen susan karen nancy betty barbara jennifer jessica amy kelly megan rebecca diana maya nina nora ella ava isla ivy ruby nova joan eleanor abby abigail agnes gretel juliet ophelia cinderella".split(
    " ",
  ),
);

const maleNames = new Set(
  "ben benjamin tom thomas paul peter max jonas lukas luca luke leon finn felix jan hans karl jürgen klaus stefan michael mike john jack james jim david daniel dan sam samuel adam noah liam oliver henry harry george william will bill bob robert joe joseph frank fred charlie charles edward eric mark martin matt matthew nick nicolas nicholas simon steve steven tim anton alexander alex andrew andreas christian pierre jean jacques louis luc michel marcel antoine hugo jules théo carlos juan josé luis pedro pablo diego miguel javier antonio marco mario giovanni luigi matteo andrea joão ivan dmitri dimitri boris sergei nikolai vladimir misha sasha nikita ilya ahmed ahmad mohammed muhammad ali omar hassan hussein khalid yusuf youssef karim tariq ibrahim taro ken kenji hiroshi takeshi akira xiaoming wei gang qiang jun lei tao bo raj arjun ravi amit david moses aaron isaac jacob olaf sven lars erik bjorn kevin brian gary larry jerry scott greg patrick sean oscar arthur walter rick morty romeo hamlet hansel leo theo rob ron".split(
    " ",
  ),
);

const femaleWords =
  /(?<![\p{L}\p{M}])(?:mrs|ms|miss|lady|madam|queen|princess|mother|mom|mum|grandma|grandmother|sister|aunt|daughter|wife|woman|girl|witch|waitress|nurse|frau|mutter|oma|tochter|schwester|königin|mädchen|madame|mme|mademoiselle|mère|fille|femme|reine|señora|señorita|sra|madre|hija|abuela|mujer|reina|niña|signora|мама|мать|бабушка|девушка)(?![\p{L}\p{M}])|妈|母|奶奶|婆|姐|妹|女|娘|嫂|婶|小姐|太太|夫人|姑|さん母|お母|엄마|누나|언니|أم|سيدة|أخت/iu;
const maleWords =
  /(?<![\p{L}\p{M}])(?:mr|sir|lord|king|prince|father|dad|daddy|grandpa|grandfather|brother|uncle|son|husband|man|boy|wizard|waiter|captain|herr|vater|opa|sohn|bruder|könig|junge|monsieur|père|fils|homme|roi|frère|señor|sr|padre|hijo|abuelo|hombre|rey|niño|signor|папа|отец|дедушка|мальчик)(?![\p{L}\p{M}])|爸|父|爷爷|爺|哥|弟|男|叔|伯|先生|老板|师傅|大爷|お父|아빠|오빠|형|أب|سيد|أخ/iu;
const femaleSigns = /[红紅丽麗芳娟婷娜花燕玲美兰蘭梅琳莉雪婉秀珍霞莲蓮月倩雯颖静靜慧晓曉]$|子$|ة$|اء$|ى$/u;
const maleSigns = /[明强強伟偉刚剛军軍勇龙龍建国國杰傑涛濤磊斌峰鹏鵬辉輝浩宇默]$|[郎夫男雄太介]$/u;

const arabicFemale = new Set("سارة مريم ليلى نور فاطمة عائشة زينب سلمى هدى ياسمين أمل رنا دينا".split(" "));

/** What a name usually says of its bearer; `null` where it says nothing. */
export function guessGender(name: string): Gender | null {
  if (femaleWords.test(name)) return "female";
  if (maleWords.test(name)) return "male";
  const words = name.toLowerCase().split(/[\s-]+/);
  if (words.some((word) => femaleNames.has(word) || arabicFemale.has(word))) return "female";
  if (words.some((word) => maleNames.has(word))) return "male";
  if (femaleSigns.test(name)) return "female";
  if (maleSigns.test(name) || /\p{Script=Arabic}/u.test(name)) return "male";
  return /^\p{L}{2,}(?:a|ette|ine|elle)$/u.test(words[0] ?? "") ? "female" : null;
}
