module github.com/chai2010/gettext-go

go 1.26.5
