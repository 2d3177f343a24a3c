import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { orgPath, type WhyNotQuestion } from '../data/org.ts';
import { useResource } from '../data/resource.ts';
import { Dialog } from './dialog.tsx';

interface WhyNotProps {
  readonly question: WhyNotQuestion;
  readonly kind?: string | undefined;
  readonly label?: string | undefined;
  readonly children: ComponentChildren;
}

/** A control that the caller may not use. It says why, and who can help, asked of the engine that denied it. */
export function WhyNot({ question, kind = 'plain', label, children }: WhyNotProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        class={`button ${kind}`}
        aria-disabled="true"
        aria-haspopup="dialog"
        aria-label={label}
        title={`You cannot ${question.task}. Why not?`}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {children}
      </button>
      {isOpen.value && <WhyNotDialog question={question} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

export function WhyNotDialog({ question, onClose }: { question: WhyNotQuestion; onClose: () => void }) {
  return (
    <Dialog title={`You cannot ${question.task}`} onClose={onClose}>
      <WhyNotAnswer question={question} />
    </Dialog>
  );
}

/** What is missing, and the people who hold the permission or can grant it. */
export function WhyNotAnswer({ question }: { question: WhyNotQuestion }) {
  const { org, type, id, relation } = question;
  const path = { objectType: type, objID: id };
  const why = useResource('GET /authz/objects/{objectType}/{objID}/explain', {
    path,
    query: { org, relation, remedies: true },
  });
  const able = useResource('GET /authz/objects/{objectType}/{objID}/principals', {
    path,
    query: { org, relation, limit: 20 },
  });
  // A robot cannot be asked.
  const people = (able.data ?? []).filter(({ type }) => type === 'user');
  // The permission is not what is missing.
  if (why.data?.allowed) return <p>It does not exist, or it was removed.</p>;
  // The sentence names the least remedy, or what is missing if it is one thing.
  const hasRemedy = (why.data?.remedies ?? []).length > 0;
  const missing = hasRemedy ? [] : (why.data?.missing.filter((text) => !why.data?.sentence.includes(text)) ?? []);
  return (
    <div class="stack">
      <p>{why.data?.sentence ?? `This needs the permission ${relation}.`}</p>
      {missing.length > 0 && (
        <ul class="bullets">
          {missing.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {people.length > 0 ? (
        <>
          <h3>Who can</h3>
          <ul class="line">
            {people.map(({ id: personId, name }) => (
              <li key={String(personId)} class="chip">
                {name}
              </li>
            ))}
          </ul>
          <p class="quiet">Ask one of them to do it, or to add you to a team that may.</p>
        </>
      ) : (
        <p class="quiet">Ask an owner of the organization, or a site administrator.</p>
      )}
      {why.data?.requestable && (
        <a class="button main" href={orgPath(org, `/requests/new?object=${type}:${id}&relation=${relation}`)}>
          Ask for it
        </a>
      )}
      <a href={orgPath(org, `/access/why?object=${type}:${id}&relation=${relation}`)}>Ways to get it</a>
    </div>
  );
}
