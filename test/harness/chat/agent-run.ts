/** The size of agent conversations in characters: the common opening, and what each turn adds. */
type AgentTalk = { conversations: number; turns: number; openingChars: number; turnChars: number };

type AgentRun = { model: string; talk: AgentTalk; work(): void; more?: () => Record<string, unknown> };

type CacheReads = { inputTokens: number; cachedTokens: number };

/**
 * Runs agents on one model, each in its own conversation, with interleaved turns: the same instructions and tools, a
 * task each, then tool calls and their results. `more` is sent with each call; after each turn of all agents they
 * `work` for a while.
 */
export async function runAgents(
  caller: { post(body: unknown): Promise<Response> },
  { model, talk, work, more = () => ({}) }: AgentRun,
): Promise<CacheReads> {
  const { conversations, turns, openingChars, turnChars } = talk;
  const opening = { role: "system", content: fill("You mend gates.", openingChars) };
  const histories = Array.from({ length: conversations }, (_, at): object[] => [
    opening,
    { role: "user", content: `Mend gate ${at}.` },
  ]);
  const reads = { inputTokens: 0, cachedTokens: 0 };
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [at, messages] of histories.entries()) {
      const response = await caller.post({ model, messages, tools, max_tokens: 100, ...more() });
      if (response.status !== 200) throw new Error(await response.text());
      const { usage } = (await response.json()) as {
        usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
      };
      reads.inputTokens += usage.prompt_tokens;
      reads.cachedTokens += usage.prompt_tokens_details.cached_tokens;
      const id = `call_${at}_${turn}`;
      const call = { id, type: "function", function: { name: "read", arguments: `{"page":${turn}}` } };
      messages.push(
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: id, content: fill(`Page ${turn} of gate ${at}.`, turnChars) },
      );
    }
    work();
  }
  return reads;
}

const tools = ["read", "write", "search"].map((name) => ({
  type: "function",
  function: { name, description: `Can ${name} plans`, parameters: { type: "object", properties: {} } },
}));

function fill(text: string, length: number): string {
  return text.padEnd(length, ` ${text}`);
}
