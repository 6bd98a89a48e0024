import { Notice } from "../../design/notice.tsx";

export function FormError({ message }: { message: string | null }) {
  return message === null ? null : <Notice kind="error">{message}</Notice>;
}
