import { Link } from "@tanstack/react-router";
import { Button, buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { MediaExamples } from "./media-examples.tsx";

export function NoTasks({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  if (isFiltered) {
    return (
      <EmptyState title="No tasks match." action={<Button onClick={onClear}>Show all tasks</Button>}>
        Choose another status, type, model or time, or search for other words.
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-6">
      <EmptyState
        title="No tasks yet"
        action={
          <Link to="/console/playground" className={buttonClasses("primary")}>
            Try it in the playground
          </Link>
        }
      >
        Every image, video, avatar, drama and speech request is a task. It appears here with its output and cost.
      </EmptyState>
      <MediaExamples />
    </div>
  );
}
