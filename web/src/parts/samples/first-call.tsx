import { type ReactNode, useState } from "react";
import { CodeSamples } from "../../design/code-block.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { writeModelSamples } from "./code-samples.ts";
import { type ChatWire, chatWires, writeWireSamples } from "./wire-samples.ts";

type FirstCallProps = { model: Parameters<typeof writeModelSamples>[0]; baseUrl: string };

/** A first call as code; chat models in each of the chat APIs. */
export function FirstCall({ model, baseUrl }: FirstCallProps): ReactNode {
  if (model.type !== "chat") return <CodeSamples label="First call" samples={writeModelSamples(model, baseUrl)} />;
  return <FirstChatCall model={model} baseUrl={baseUrl} />;
}

function FirstChatCall({ model, baseUrl }: FirstCallProps) {
  const [wire, setWire] = useState<ChatWire>("chat");
  const chosen = chatWires.find(({ id }) => id === wire) ?? chatWires[0];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-sm text-ink-soft">
        <SelectField
          label="API"
          options={chatWires.map(({ id, label }) => ({ value: id, label }))}
          value={wire}
          onChange={(value) => setWire(chatWires.find(({ id }) => id === value)?.id ?? "chat")}
          isCompact
        />
        {chosen.hint}
      </div>
      <CodeSamples label="First call" samples={writeWireSamples(wire, model, baseUrl)} />
    </div>
  );
}
