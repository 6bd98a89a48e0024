import { useState } from "react";
import type { ModelDetail } from "../../api/fetch-catalog.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { ModelLogo } from "../../parts/records/model-logo.tsx";
import { ChatComposer, type ChatDraft, emptyDraft, useChatDraft } from "./chat-composer.tsx";
import { type ChatSettings, readSettings } from "./chat-settings.ts";
import { ChatSettingsPanel, useChatSettings } from "./chat-settings-panel.tsx";
import { AnswerView, QuestionView } from "./chat-turn.tsx";
import { gridOf } from "./compare-grid.ts";
import { type Round, rankRound } from "./comparison.ts";
import { createRandomName } from "./create-random-name.ts";
import { ExampleList } from "./example-list.tsx";
import { chatExamples } from "./examples.ts";
import { fitSettings } from "./fit-settings.ts";
import type { ChatCall } from "./generate-answer.ts";
import { RequestFailure } from "./request-failure.tsx";
import { useChatComparison } from "./use-chat-comparison.ts";

type ChatComparisonProps = { models: readonly ModelDetail[]; currency: string };

/** One prompt to several models side by side, with cost and time. */
export function ChatComparison({ models, currency }: ChatComparisonProps) {
  const comparison = useChatComparison();
  const [draft, setDraft] = useChatDraft();
  const [settings, setSettings] = useChatSettings();
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const union = mergeModels(models);
  const { problems } = readSettings(settings, union);
  const isSendable = Object.keys(problems).length === 0;
  const plans = models.map((model) => planCall(model, settings, draft));
  const takesImages = models.some(({ capabilities }) => capabilities.includes("vision"));
  const send = () => {
    // The invalid setting may be collapsed.
    if (!isSendable) return setSettingsOpen(true);
    const question = { kind: "question" as const, id: createRandomName(), text: draft.text, images: draft.images };
    comparison.send(
      question,
      plans.map(({ call }) => call),
    );
    setDraft(emptyDraft);
  };
  return (
    <div className="flex flex-col gap-6">
      {comparison.rounds.length === 0 && (
        <ExampleList
          examples={chatExamples}
          describe={({ text }) => text}
          onChoose={({ text }) => setDraft({ ...draft, text })}
        />
      )}
      {comparison.rounds.map((round) => (
        <RoundView key={round.question.id} {...{ round, models, plans, currency, comparison }} />
      ))}
      <ChatComposer
        draft={draft}
        onChange={setDraft}
        takesImages={takesImages}
        isBusy={comparison.isBusy}
        stopLabel="Stop all"
        onSend={send}
        onStop={comparison.stopAll}
      />
      <Remarks plans={plans} />
      <div className="-mt-2 flex flex-wrap gap-3">
        <Button aria-expanded={areSettingsOpen} onClick={() => setSettingsOpen(!areSettingsOpen)}>
          {areSettingsOpen ? "Hide settings" : "Settings"}
        </Button>
        {comparison.rounds.length > 0 && (
          <Button look="quiet" onClick={comparison.clear}>
            Clear comparison
          </Button>
        )}
      </div>
      {areSettingsOpen && (
        <div className="max-w-2xl">
          <ChatSettingsPanel
            model={union}
            settings={settings}
            problems={problems}
            failure={null}
            onChange={(change) => setSettings((last) => ({ ...last, ...change }))}
          />
        </div>
      )}
    </div>
  );
}

type Plan = { model: ModelDetail; call: ChatCall; remarks: string[] };

/** The settings that this model supports. */
function planCall(model: ModelDetail, settings: ChatSettings, draft: ChatDraft): Plan {
  const hasImages = draft.images.length > 0;
  const fitted = fitSettings(settings, model, { hasImages });
  const { options } = readSettings(fitted.settings, model);
  const isStreamed = model.capabilities.includes("streaming");
  return {
    model,
    call: {
      system: settings.system,
      model: model.id,
      isStreamed,
      takesImages: model.capabilities.includes("vision"),
      options,
    },
    remarks: fitted.remarks,
  };
}

function mergeModels(models: readonly ModelDetail[]): ModelDetail {
  const [first] = models;
  if (first === undefined) throw new Error("A comparison needs at least one model.");
  const tokens = models.map(({ limits }) => limits.max_output_tokens);
  const { max_output_tokens: _, ...limits } = first.limits;
  const isLimited = tokens.every((max) => max !== undefined);
  return {
    ...first,
    capabilities: [...new Set(models.flatMap(({ capabilities }) => capabilities))],
    limits: isLimited ? { ...limits, max_output_tokens: Math.max(...tokens) } : limits,
  };
}

function Remarks({ plans }: { plans: readonly Plan[] }) {
  const told = plans.filter(({ remarks }) => remarks.length > 0);
  if (told.length === 0) return null;
  return (
    <ul className="-mt-3 flex flex-col gap-1 text-sm text-ink-soft">
      {told.map(({ model, remarks }) => (
        <li key={model.id}>
          <span className="font-medium text-ink">{model.name}</span>: {remarks.join(" ")}
        </li>
      ))}
    </ul>
  );
}

type RoundViewProps = {
  round: Round;
  models: readonly ModelDetail[];
  plans: readonly Plan[];
  currency: string;
  comparison: ReturnType<typeof useChatComparison>;
};

function RoundView({ round, models, plans, currency, comparison }: RoundViewProps) {
  const { id } = round.question;
  const ranking = rankRound(
    round,
    models.map((model) => model.id),
  );
  return (
    <section aria-label="Comparison" className="flex flex-col gap-4">
      <QuestionView turn={round.question} />
      <div className={gridOf(models.length)}>
        {plans.map(({ model, call }) => {
          const answer = round.answers[model.id];
          const failure = comparison.failureAt(id, model.id);
          const repeat = () => comparison.repeat(id, call);
          const isOpen = comparison.isOpen(id, model.id);
          return (
            <div key={model.id} className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-4">
              <div className="flex flex-wrap items-center gap-2">
                <ModelLogo model={model} />
                <h2 className="min-w-0 truncate text-sm font-semibold">{model.name}</h2>
                {ranking.cheapest === model.id && <Badge kind="good">Cheapest</Badge>}
                {ranking.fastest === model.id && <Badge kind="busy">Fastest</Badge>}
              </div>
              {answer !== undefined && (
                <AnswerView turn={answer} currency={currency} {...(isOpen ? {} : { onRepeat: repeat })} />
              )}
              {failure !== null && <RequestFailure error={failure} onRetry={repeat} />}
              {answer === undefined && failure === null && !isOpen && (
                <Button className="self-start" onClick={repeat}>
                  Generate response
                </Button>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}
