import { useState } from "react";
import { Button } from "../../design/button.tsx";
import { TextArea } from "../../design/text-area.tsx";
import type { ToolCall, ToolResult } from "./conversation.ts";
import { createRandomName } from "./create-random-name.ts";

/** The user plays the tools and types their results. */
export function ToolResultsForm({
  calls,
  onSend,
}: {
  calls: readonly ToolCall[];
  onSend(results: ToolResult[]): void;
}) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const send = () =>
    onSend(
      calls.map(({ id, name }) => ({
        kind: "tool-result",
        id: createRandomName(),
        callId: id,
        name,
        text: texts[id] ?? "",
      })),
    );
  return (
    <form
      className="flex flex-col gap-4 rounded-lg border border-line p-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {calls.map(({ id, name }) => (
        <TextArea
          key={id}
          label={`Result of ${name}`}
          name={`result_${id}`}
          rows={2}
          className="font-mono text-sm"
          placeholder={'{"temperature": 21}'}
          value={texts[id] ?? ""}
          onChange={(text) => setTexts({ ...texts, [id]: text })}
        />
      ))}
      <div>
        <Button type="submit" look="primary">
          Send {calls.length === 1 ? "the result" : "the results"}
        </Button>
      </div>
    </form>
  );
}
