import { writeModelSamples } from "./code-samples.ts";

type SampleModel = Parameters<typeof writeModelSamples>[0];
type TerminalSample = { id: "curl" | "python" | "typescript" | "claude-code" | "cli"; label: string; code: string };
type Place = { baseUrl: string; siteUrl: string; key: string };

const question = "What does a sluice do?";

/** Heredoc delimiter; no sample contains this line. */
const ending = "END_OF_CALL";

/** A first call to paste into a terminal, including the key. Required installs are in a comment. */
export function writeTerminalSamples(
  model: SampleModel,
  { baseUrl, siteUrl, key }: Place,
): [TerminalSample, ...TerminalSample[]] {
  const [curl, python, typescript] = writeModelSamples(model, baseUrl);
  const keep = `export SLUICE_API_KEY=${key}\n`;
  const languages: [TerminalSample, ...TerminalSample[]] = [
    { id: "curl", label: "curl", code: `${keep}\n${curl.code}` },
    {
      id: "python",
      label: "Python",
      code: `# Once: pip install openai requests\n${keep}\npython3 - <<'${ending}'\n${python.code}${ending}`,
    },
    {
      id: "typescript",
      label: "TypeScript",
      code: `# Once: npm install openai\n${keep}\ncat > first-call.mts <<'${ending}'\n${typescript.code}${ending}\nnode first-call.mts`,
    },
  ];
  return model.type === "chat" ? [...languages, ...writeChatClients(model.id, { baseUrl, siteUrl, key })] : languages;
}

/** Chat programs that only need a base URL and a key. */
function writeChatClients(modelId: string, { baseUrl, siteUrl, key }: Place): TerminalSample[] {
  return [
    {
      id: "claude-code",
      label: "Claude Code",
      // Anthropic's clients append the API version themselves. A small model does background work.
      code: `# Once: npm install --global @anthropic-ai/claude-code
export ANTHROPIC_BASE_URL=${baseUrl.replace(/\/v1$/, "")}
export ANTHROPIC_AUTH_TOKEN=${key}
export ANTHROPIC_MODEL=${modelId}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${modelId}

claude -p "${question}"`,
    },
    {
      id: "cli",
      label: "CLI",
      code: `# The Sluice CLI
export SLUICE_SITE=${siteUrl}
export SLUICE_API_KEY=${key}

sluice chat --model ${modelId} "${question}"`,
    },
  ];
}
