// The calls that the Go SDK shares with this server; one line for each: "ok NAME" or "no NAME: why".
package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"code.gitea.io/sdk/gitea"
)

var failed = false

func try(name string, call func() error) {
	defer func() {
		if fault := recover(); fault != nil {
			failed = true
			fmt.Printf("no %s: panic: %v\n", name, fault)
		}
	}()
	if err := call(); err != nil {
		failed = true
		fmt.Printf("no %s: %v\n", name, err)
		return
	}
	fmt.Printf("ok %s\n", name)
}

func same(err error, found, wanted any) error {
	if err == nil && !reflect.DeepEqual(found, wanted) {
		return fmt.Errorf("%v instead of %v", found, wanted)
	}
	return err
}

func client(options ...gitea.ClientOption) *gitea.Client {
	made, err := gitea.NewClient(os.Getenv("BASE_URL"), options...)
	if err != nil {
		failed = true
		fmt.Printf("no NewClient: %v\n", err)
	}
	return made
}

func main() {
	ann := client(gitea.SetToken(os.Getenv("ANN_TOKEN")))
	root := client(gitea.SetToken(os.Getenv("ROOT_TOKEN")))
	basic := client(gitea.SetBasicAuth("ann", os.Getenv("ANN_PASSWORD")))

	try("ServerVersion", func() error {
		version, _, err := ann.ServerVersion()
		return same(err, strings.HasPrefix(version, "v"), true)
	})
	try("GetMyUserInfo", func() error {
		user, _, err := ann.GetMyUserInfo()
		return same(err, []any{user.UserName, user.Email, user.IsActive}, []any{"ann", "ann@example.com", true})
	})
	try("ListEmails", func() error {
		emails, _, err := ann.ListEmails(gitea.ListEmailsOptions{})
		return same(err, []any{len(emails), emails[0].Primary}, []any{2, true})
	})
	try("AddEmail, DeleteEmail", func() error {
		if _, _, err := ann.AddEmail(gitea.CreateEmailOption{Emails: []string{"go@example.net"}}); err != nil {
			return err
		}
		_, err := ann.DeleteEmail(gitea.DeleteEmailOption{Emails: []string{"go@example.net"}})
		return err
	})
	try("AddEmail of a used address", func() error {
		_, answer, err := ann.AddEmail(gitea.CreateEmailOption{Emails: []string{"BOB@example.com"}})
		if err == nil {
			return fmt.Errorf("no error")
		}
		return same(nil, []any{answer.StatusCode, strings.Contains(err.Error(), "has been used")}, []any{422, true})
	})
	try("ListMyFollowers without pages", func() error {
		users, _, err := root.ListMyFollowers(gitea.ListFollowersOptions{ListOptions: gitea.ListOptions{Page: -1}})
		return same(err, len(users), 30)
	})
	try("ListMyFollowers by Link", func() error {
		seen := map[string]bool{}
		for page, last := 1, 1; page <= last; page++ {
			options := gitea.ListFollowersOptions{ListOptions: gitea.ListOptions{Page: page, PageSize: 10}}
			users, answer, err := root.ListMyFollowers(options)
			if err != nil {
				return err
			}
			if page == 1 {
				last = answer.LastPage
			}
			for _, user := range users {
				seen[user.UserName] = true
			}
		}
		return same(nil, len(seen), 45)
	})
	try("Follow, IsFollowing, ListMyFollowing, Unfollow", func() error {
		if _, err := ann.Follow("cat"); err != nil {
			return err
		}
		is, _ := ann.IsFollowing("CAT")
		users, _, err := ann.ListMyFollowing(gitea.ListFollowingOptions{})
		if err := same(err, []any{is, users[0].UserName}, []any{true, "cat"}); err != nil {
			return err
		}
		if _, err := ann.Unfollow("cat"); err != nil {
			return err
		}
		is, _ = ann.IsFollowing("cat")
		return same(nil, is, false)
	})
	try("ListMyTeams", func() error {
		teams, _, err := ann.ListMyTeams(&gitea.ListTeamsOptions{})
		return same(err, []any{len(teams), teams[0].Organization.UserName, teams[0].Permission}, []any{1, "acme", gitea.AccessModeOwner})
	})
	try("ListMyTeams with Sudo", func() error {
		root.SetSudo("dan")
		defer root.SetSudo("")
		teams, _, err := root.ListMyTeams(&gitea.ListTeamsOptions{})
		return same(err, teams[0].Name, "operators")
	})
	try("CreateAccessToken, ListAccessTokens, DeleteAccessToken", func() error {
		scopes := []gitea.AccessTokenScope{"read:user"}
		made, _, err := basic.CreateAccessToken(gitea.CreateAccessTokenOption{Name: "go", Scopes: scopes})
		if err != nil {
			return err
		}
		tokens, _, err := basic.ListAccessTokens(gitea.ListAccessTokensOptions{})
		if err := same(err, []any{len(tokens), strings.HasPrefix(made.Token, "atr_")}, []any{2, true}); err != nil {
			return err
		}
		_, err = basic.DeleteAccessToken(made.ID)
		return err
	})
	if failed {
		os.Exit(1)
	}
}
