import { Link } from "@tanstack/react-router";
import type { Model, ModelDetail, PriceList } from "../../api/fetch-catalog.ts";
import { EmptyState } from "../../design/empty-state.tsx";
import { ChatWorkspace } from "./chat-workspace.tsx";
import type { InputUse } from "./list-input-uses.ts";
import type { MediaType } from "./media-fields.ts";
import type { KeptFile } from "./media-values.ts";
import { MediaWorkspace } from "./media-workspace.tsx";
import type { Forms } from "./use-forms.ts";

type WorkspaceProps = {
  model: ModelDetail;
  models: readonly Model[];
  prices: PriceList;
  forms: Forms;
  isCodeShown: boolean;
  onUse(use: InputUse, file: KeptFile): void;
  onEditRun(taskId: string): void;
};

export function Workspace({ model, models, prices, forms, isCodeShown, onUse, onEditRun }: WorkspaceProps) {
  if (model.type === "embedding") return <ApiOnly model={model} says="It returns vectors." />;
  if (model.type === "transcription") return <ApiOnly model={model} says="It transcribes recordings." />;
  if (!isMedia(model)) return <ChatWorkspace model={model} currency={prices.currency} isCodeShown={isCodeShown} />;
  const { type } = model;
  return (
    <MediaWorkspace
      {...{ model, models, prices, isCodeShown, onUse, onEditRun }}
      form={{
        ...forms.read(type),
        onChange: (name, value) => forms.change(type, name, value),
        onFill: (values) => forms.fill(type, values),
        onShow: (taskId) => forms.show(type, taskId),
      }}
    />
  );
}

export function isMedia(model: ModelDetail): model is ModelDetail & { type: MediaType } {
  return model.type !== "chat" && model.type !== "embedding" && model.type !== "transcription";
}

/** Models without anything to show in the playground. */
function ApiOnly({ model, says }: { model: ModelDetail; says: string }) {
  return (
    <EmptyState title="This model is for the API">
      {says}{" "}
      <Link to="/console/models/$" params={{ _splat: model.id }} className="text-accent underline underline-offset-2">
        Its page
      </Link>{" "}
      has a first call to paste.
    </EmptyState>
  );
}
