const number = "-?\\d{1,15}(?:\\.\\d{1,10})?";
const sign = "\\s*[+*x×÷/]\\s*|\\s+[-−]\\s+|\\s+(?:plus|minus|times|divided by|mal|geteilt durch|fois|por)\\s+";
const asking =
  "what is|what's|how much is|calculate|compute|was ist|wie viel ist|rechne|combien font|calcule|cuánto es|calcula";

/** Only a question that is nothing but a calculation: a date or a fraction in a sentence is none. */
const questionPattern = new RegExp(`^(?:${asking})?[\\s:]*(${number}(?:(?:${sign})${number}){1,8})[\\s?=.!]*$`, "i");
const termPattern = new RegExp(`(${sign}|^)(${number})`, "gi");

const signsByWord: Record<string, string> = {
  x: "*",
  "×": "*",
  times: "*",
  mal: "*",
  fois: "*",
  por: "*",
  "÷": "/",
  "divided by": "/",
  "geteilt durch": "/",
  plus: "+",
  minus: "-",
  "−": "-",
};

export type Calculation = { expression: string; result: number };

/** Parses questions such as "What is 12 * 7?". A result that cannot be calculated is not finite. */
export function calculate(question: string): Calculation | null {
  const expression = questionPattern.exec(question.trim())?.[1];
  if (expression === undefined) return null;
  let sum = 0;
  let product = 0;
  for (const [, word = "", digits = ""] of expression.matchAll(termPattern)) {
    const value = Number(digits);
    const written = word.trim().toLowerCase();
    const operator = signsByWord[written] ?? written;
    if (operator === "*") product *= value;
    else if (operator === "/") product /= value;
    else {
      sum += product;
      product = operator === "-" ? -value : value;
    }
  }
  // Twelve digits hide the rounding errors of binary fractions.
  return { expression: expression.trim(), result: Number((sum + product).toPrecision(12)) };
}
