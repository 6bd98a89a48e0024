import { api, ask } from "../api/console-api.ts";
import { useAnswerCache } from "../api/use-answer-cache.ts";
import { Menu, menuItemClasses } from "../design/menu.tsx";
import { ThemeChoice } from "./theme-choice.tsx";
import { useAction } from "./use-action.ts";
import { useSession } from "./use-session.ts";

/** Who is signed in, how the pages look, and the way out. It opens upwards, from the foot of the places. */
export function AccountMenu() {
  const { user } = useSession();
  const answers = useAnswerCache();
  const signOut = useAction(
    () => ask(api.POST("/sign-out", { body: {} })),
    () => {
      answers.clear();
      sessionStorage.clear();
      location.assign("/sign-in");
    },
  );
  return (
    <Menu
      opens="upwards"
      label={<span className="truncate">{user.email}</span>}
      accessibleName={`Account of ${user.email}`}
    >
      <p className="truncate px-3 py-2 text-xs text-ink-soft">{user.email}</p>
      <div className="px-3 pb-2">
        <ThemeChoice />
      </div>
      <button type="button" className={menuItemClasses} onClick={() => signOut.run(undefined)}>
        Sign out
      </button>
    </Menu>
  );
}
