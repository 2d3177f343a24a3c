import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { actorOf, callerIn, holds, member } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { unchanged, versionEtag } from '../http/wire/etag.ts';
import { choice, PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { media, OrgQuery, PathId, readId } from '../http/wire/schemas.ts';
import { ITEM_STATES, type Review, type ReviewItem } from './review.ts';
import {
  CommentBody,
  FullReview,
  ItemWithImpact,
  NewReviewBody,
  presentEnding,
  presentItem,
  presentProof,
  presentReview,
  ReviewItemResponse,
  ReviewResponse,
  readReview,
} from './review.view.ts';
import { reviewCsv } from './review-record.ts';
import type { ReviewSetting, Reviews } from './reviews.ts';

const ReviewPath = Type.Object({ id: PathId });
const ItemPath = Type.Object({ id: PathId, item: PathId });

export function reviewRoutes(scope: Scope, reviews: Reviews, baseUrl: () => string): void {
  const common = { tags: ['reviews'], extension: true, strictQuery: true };
  const seeing = { access: member('authz', 'as users') };
  const owning = { access: holds('owner:org', 'authz') };

  scope.get(
    '/authz/reviews',
    {
      config: seeing,
      schema: {
        ...common,
        summary:
          'List access reviews, the newest first: all for owners, and otherwise those that the caller decides in',
        querystring: Type.Object({
          ...OrgQuery.properties,
          state: choice(['open', 'closed'], 'Only reviews in this state.'),
          ...PageQuery,
        }),
        response: { 200: Type.Array(ReviewResponse) },
      },
    },
    async (request, reply) => {
      const { organization, person } = callerIn(request);
      const page = readPage(request.query);
      const found = await reviews.list(organization.id, person.id, request.query.state, page);
      showPage(request, reply, baseUrl(), page, found.total);
      return found.items.map(presentReview);
    },
  );

  scope.post(
    '/authz/reviews',
    {
      config: { ...owning, creates: true, costly: 'ask a narrower question' },
      schema: {
        ...common,
        summary: 'Start an access review of a question, as of now',
        querystring: OrgQuery,
        body: NewReviewBody,
        etag: true,
        response: { 201: ReviewResponse },
      },
    },
    async (request, reply) => {
      const [setting, input] = [settingOf(request), readReview(request.body)];
      return await createOnce(
        request,
        reply.code(201),
        (once) => reviews.start(setting, input, new Date(), once),
        (review: Review) => {
          reply.header('ETag', versionEtag(review));
          return presentReview(review);
        },
      );
    },
  );

  scope.get(
    '/authz/reviews/:id',
    {
      config: seeing,
      schema: {
        ...common,
        summary: 'Get an access review with a page of its items, and how its record is found in the audit log',
        params: ReviewPath,
        querystring: Type.Object({
          ...OrgQuery.properties,
          state: choice(ITEM_STATES, 'Only items in this state.'),
          ...PageQuery,
        }),
        etag: true,
        response: { 200: FullReview },
      },
    },
    async (request, reply) => {
      const review = await seen(request);
      const page = readPage(request.query);
      const found = await reviews.items(review, page, request.query.state);
      showPage(request, reply, baseUrl(), page, found.total);
      return await showFull(reply, review, found.items);
    },
  );

  scope.get(
    '/authz/reviews/:id/items/:item',
    {
      config: { ...seeing, costly: 'ask when fewer requests are made' },
      schema: {
        ...common,
        summary: 'Get an item of an access review, and what would change if the caller ended it',
        params: ItemPath,
        querystring: OrgQuery,
        response: { 200: ItemWithImpact },
      },
    },
    async (request) => {
      const review = await seen(request);
      const item = await reviews.itemWith(review, itemOf(request.params));
      return { ...presentItem(item), ...presentEnding(await reviews.impactOf(settingOf(request), review, item)) };
    },
  );

  for (const [verdict, summary] of [
    ['keep', 'Keep the access of an item; only reviewers can'],
    ['end', 'End the access of an item, which is the real change; only reviewers can, with their own rights'],
  ] as const) {
    scope.post(
      `/authz/reviews/:id/items/:item/${verdict}`,
      {
        preValidation: dropAbsent(),
        config: seeing,
        schema: {
          ...common,
          summary,
          params: ItemPath,
          querystring: OrgQuery,
          body: CommentBody,
          optionalBody: true,
          errors: [409],
          response: { 200: ReviewItemResponse },
        },
      },
      async (request) => {
        const ids = { review: idOf(request.params), item: itemOf(request.params) };
        return presentItem(await reviews.decide(settingOf(request), ids, verdict, request.body.comment));
      },
    );
  }

  scope.post(
    '/authz/reviews/:id/close',
    {
      config: owning,
      schema: {
        ...common,
        summary: 'Close an access review before it is due: undecided items are kept or ended, as it says',
        params: ReviewPath,
        querystring: Type.Object({ ...OrgQuery.properties, ...PageQuery }),
        etag: true,
        ifMatch: true,
        errors: [409],
        response: { 200: FullReview },
      },
    },
    async (request, reply) => {
      const review = await reviews.close(settingOf(request), idOf(request.params), unchanged(request));
      const page = readPage(request.query);
      const { items, total } = await reviews.items(review, page);
      showPage(request, reply, baseUrl(), page, total);
      return await showFull(reply, review, items);
    },
  );

  scope.get(
    '/authz/reviews/:id/record',
    {
      config: seeing,
      schema: {
        ...common,
        summary: 'Download the record of a closed access review; its SHA-256 is in the audit log, byte for byte',
        params: ReviewPath,
        querystring: OrgQuery,
        errors: [409],
        response: { 200: media('text/plain') },
      },
    },
    async (request, reply) => {
      const review = await seen(request);
      const text = await reviews.recordOf(review);
      // It is JSON, but a client that reads it as such could not hash what it got.
      reply.type('text/plain; charset=utf-8');
      reply.header('content-disposition', `attachment; filename="review-${review.id}.json"`);
      return reply.send(text as never);
    },
  );

  scope.get(
    '/authz/reviews/:id/csv',
    {
      config: seeing,
      schema: {
        ...common,
        summary: 'Download all items of an access review as CSV',
        params: ReviewPath,
        querystring: OrgQuery,
        response: { 200: media('text/csv') },
      },
    },
    async (request, reply) => {
      const review = await seen(request);
      const text = reviewCsv(await reviews.allItems(review));
      reply.type('text/csv; charset=utf-8');
      reply.header('content-disposition', `attachment; filename="review-${review.id}.csv"`);
      return reply.send(text as never);
    },
  );

  async function seen(request: FastifyRequest): Promise<Review> {
    const { organization, person } = callerIn(request);
    return await reviews.get(organization.id, person.id, idOf(request.params as Static<typeof ReviewPath>));
  }

  async function showFull(reply: FastifyReply, review: Review, items: readonly ReviewItem[]) {
    reply.header('ETag', versionEtag(review));
    const record = presentProof(await reviews.proofOf(review));
    return { ...presentReview(review), record, items: items.map(presentItem) };
  }
}

function idOf(params: Static<typeof ReviewPath>): bigint {
  return readId(params.id, 'review ID');
}

function itemOf(params: Static<typeof ItemPath>): bigint {
  return readId(params.item, 'item ID');
}

function settingOf(request: FastifyRequest): ReviewSetting {
  return { organization: callerIn(request).organization, actor: actorOf(request) };
}
