import type { ModelDetail } from "../../api/fetch-catalog.ts";
import { CheckField } from "../../design/check-field.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import { type ChatSettings, efforts, type SettingProblems, usualSettings } from "./chat-settings.ts";
import { findFieldError } from "./request-failure.tsx";
import { useStoredState } from "./use-stored-state.ts";

const keptSettings = {
  parse: (stored: unknown): ChatSettings => ({ ...usualSettings, ...(typeof stored === "object" ? stored : {}) }),
};

export function useChatSettings() {
  return useStoredState("chat-settings", keptSettings);
}

type ChatSettingsPanelProps = {
  model: ModelDetail;
  settings: ChatSettings;
  problems: SettingProblems;
  /** Field errors of the last request. */
  failure: Error | null;
  onChange(change: Partial<ChatSettings>): void;
};

const effortOptions = [
  { value: "", label: "Model default" },
  ...efforts.map((effort) => ({ value: effort, label: effort })),
];

/** Settings for every message. Empty fields are not sent. */
export function ChatSettingsPanel({ model, settings, problems, failure, onChange }: ChatSettingsPanelProps) {
  const errorAt = (name: keyof SettingProblems) => problems[name] ?? findFieldError(failure, name);
  const tokensMax = model.limits.max_output_tokens;
  return (
    <div className="flex flex-col gap-5">
      <TextArea
        label="System message"
        name="system"
        className="min-h-24"
        placeholder="You are a helpful assistant."
        value={settings.system}
        onChange={(system) => onChange({ system })}
      />
      <div className="grid grid-cols-2 items-start gap-4">
        <TextField
          label="Temperature"
          name="temperature"
          inputMode="decimal"
          placeholder="0 to 2"
          value={settings.temperature}
          onChange={(temperature) => onChange({ temperature })}
          error={errorAt("temperature")}
        />
        <TextField
          label="Top P"
          name="top_p"
          inputMode="decimal"
          placeholder="0 to 1"
          value={settings.topP}
          onChange={(topP) => onChange({ topP })}
          error={errorAt("top_p")}
        />
      </div>
      <TextField
        label="Max output tokens"
        name="max_completion_tokens"
        inputMode="numeric"
        placeholder={tokensMax === undefined ? "No limit" : `Up to ${formatCount(tokensMax)}`}
        value={settings.tokensMax}
        onChange={(value) => onChange({ tokensMax: value })}
        error={errorAt("max_completion_tokens")}
      />
      {model.capabilities.includes("reasoning") && (
        <SelectField
          label="Reasoning effort"
          name="reasoning_effort"
          options={effortOptions}
          value={settings.effort}
          onChange={(effort) => onChange({ effort })}
          error={errorAt("reasoning_effort")}
        />
      )}
      {model.capabilities.includes("tools") && (
        <CheckField
          label="Enable tools"
          name="has_tools"
          isChecked={settings.hasTools}
          onChange={(hasTools) => onChange({ hasTools })}
          hint="The model may call them; you provide the results."
        />
      )}
      {settings.hasTools && model.capabilities.includes("tools") && (
        <TextArea
          label="Tools (JSON)"
          name="tools"
          rows={8}
          spellCheck={false}
          className="font-mono text-xs"
          value={settings.toolsText}
          onChange={(toolsText) => onChange({ toolsText })}
          error={errorAt("tools")}
        />
      )}
    </div>
  );
}
