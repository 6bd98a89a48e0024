/** Short answers to questions of the docs and to common ones. The first topic that a question names counts. */
const topics: readonly [words: RegExp, answer: string][] = [
  [
    /\bqueues?\b/i,
    "A queue makes a system more reliable when work arrives in bursts and may wait: orders are stored, a crashed worker picks them up again, and the shop stays open. It only hides a problem when work arrives faster than it is done. If every photo takes two seconds and three arrive per second, the queue grows until every user waits for hours. Measure the age of the oldest item: if it keeps rising, add capacity or reject work early.",
  ],
  [
    /\bsluices?\b/i,
    "A sluice is a gate that controls the flow of water: it opens to let water through, closes to hold it back, and protects what lies downstream.",
  ],
  [
    /\bsky\b.{0,20}\bblue\b|\bblue\b.{0,20}\bsky\b/i,
    "The sky is blue because air scatters short, blue wavelengths of sunlight far more than long, red ones.",
  ],
  [
    /\bapi gateways?\b|\bai gateways?\b/i,
    "An AI gateway is one API in front of many models: it checks keys, chooses an upstream, retries, and counts the cost of each call.",
  ],
  [
    /\bidempoten(?:t|cy)\b/i,
    "A request is idempotent if sending it twice has the same effect as sending it once. Send the same idempotency key with a retry, and the first result is returned.",
  ],
  [
    /\bwebhooks?\b/i,
    "A webhook is an HTTP request that a service sends to your URL when something happens. Check its signature, answer quickly with 200, and do the work later.",
  ],
  [
    /\bembeddings?\b/i,
    "An embedding is a list of numbers for a text. Texts with similar meaning have similar numbers, so you can search by meaning.",
  ],
  [
    /\brate limit(?:s|ing)?\b/i,
    "A rate limit is the number of requests that you may send in a time span. After a 429, wait as long as Retry-After says, then try again.",
  ],
  [
    /\b(?:language model|llm)s?\b/i,
    "A language model predicts the next piece of a text, again and again, from all the text before it.",
  ],
  [
    /\blighthouses?\b/i,
    "A lighthouse is a tower with a strong light that warns ships of a coast and shows them where they are.",
  ],
];

const askingPattern = /^(?:please )?(?:what|why|how|when|who|explain|describe|define|tell me|can you explain)\b/i;

/** Answers a question about a known topic. */
export function explainTopic(question: string): string | null {
  if (!askingPattern.test(question)) return null;
  return topics.find(([words]) => words.test(question))?.[1] ?? null;
}
